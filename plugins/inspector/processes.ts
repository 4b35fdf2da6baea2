import { type Kernel, systemClock } from '../../kernel/index.ts'
import { inspectorRequest } from '../shared/development/inspector-request.ts'
import { type ProcessReport, processStore, reportEvery, reportKept } from '../shared/development/process-report.ts'
import { handover } from '../shared/environment/handover.ts'
import { isObject } from '../shared/values/json.ts'
import { safely } from '../shared/values/safely.ts'

const maxReports = 50

const states = ['booting', 'ready', 'draining', 'ended']

const isReport = (one: unknown): one is ProcessReport =>
  isObject(one) &&
  Number.isSafeInteger(one.pid) &&
  Number.isSafeInteger(one.since) &&
  typeof one.runs === 'string' &&
  states.includes(String(one.state))

/** The processes of the application: this one, its predecessors, and those that report to its page. */
export class Processes {
  /** By pid, the last that began last. */
  readonly #reports = new Map<number, ProcessReport>()
  readonly #server: Pick<Kernel, 'isListening' | 'url'>
  readonly #store
  readonly #timer
  #state: ProcessReport['state'] = 'booting'
  #restarts: number | undefined

  constructor(server: Pick<Kernel, 'isListening' | 'url'>) {
    this.#server = server
    this.#store = handover()?.open(processStore, (entries) => {
      const before = entries.flatMap(([, text]) => this.take(text) ?? [])
      this.#restarts = Math.max(-1, ...before.map(({ restarts = 0 }) => restarts)) + 1
      this.report(this.#state)
    })
    this.report('booting')
    // Only the page of another process needs to be told.
    if (inspectorRequest()?.port === undefined) return
    this.#timer = systemClock.setInterval(() => this.report(this.#state), reportEvery)
    this.#timer.unref()
  }

  get #own(): ProcessReport {
    return {
      pid: process.pid,
      runs: inspectorRequest()?.runs ?? 'server',
      since: Math.round(systemClock.now() - process.uptime() * 1_000),
      state: this.#state,
      why: this.#state === 'ended' ? `exit code ${process.exitCode ?? 0}` : undefined,
      memory: process.memoryUsage.rss(),
      restarts: this.#restarts,
      url: this.#server.isListening ? this.#server.url : undefined,
    }
  }

  report(state: ProcessReport['state']): void {
    this.#state = state
    this.#store?.set(String(process.pid), JSON.stringify(this.#own), systemClock.now() + reportKept)
  }

  /** Takes the report of a process; returns it unless it is none. */
  take(text: unknown): ProcessReport | undefined {
    const report = safely(() => JSON.parse(String(text)) as unknown)
    if (!isReport(report) || report.pid === process.pid) return undefined
    this.#reports.set(report.pid, report)
    if (this.#reports.size > maxReports) this.#reports.delete(this.#reports.keys().next().value!)
    return report
  }

  /** All of them, those that run first. */
  list(): ProcessReport[] {
    const others = [...this.#reports.values()].toReversed().map((one) => (isAlive(one) ? one : ended(one)))
    const isRunning = ({ state }: ProcessReport) => state !== 'ended'
    return [this.#own, ...others.filter(isRunning), ...others.filter((one) => !isRunning(one))]
  }

  /** Reports that this process is about to end; resolves when that has arrived. */
  async end(): Promise<void> {
    systemClock.clear(this.#timer)
    // Under `framework serve`, its supervisor sees how the process ends.
    if (this.#timer !== undefined) this.report('ended')
    await this.#store?.sent?.()
  }
}

const ended = (one: ProcessReport): ProcessReport => ({ ...one, state: 'ended', why: one.why ?? 'without a report' })

/** A process that was killed has not reported it. One that may not be asked about counts as running. */
function isAlive({ pid, state }: ProcessReport): boolean {
  try {
    return state !== 'ended' && process.kill(pid, 0)
  } catch (error) {
    return (error as { code?: unknown }).code !== 'ESRCH'
  }
}
