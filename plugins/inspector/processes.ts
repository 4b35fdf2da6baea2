import { type Kernel, systemClock } from '../../kernel/index.ts'
import { inspectorRequest } from '../shared/development/inspector-request.ts'
import { type ProcessReport, processStore, reportEvery, reportKept } from '../shared/development/process-report.ts'
import { handover } from '../shared/environment/handover.ts'
import { isObject } from '../shared/values/json.ts'
import { safely } from '../shared/values/safely.ts'

const maxReports = 50
/** Milliseconds after which a process counts as silent: it hangs, or its id belongs to another process by now. */
const silentAfter = 6 * reportEvery

const isReport = (one: unknown): one is ProcessReport =>
  isObject(one) &&
  [one.pid, one.since].every(Number.isSafeInteger) &&
  typeof one.runs === 'string' &&
  /^(?:booting|ready|draining|ended)$/.test(String(one.state))

/** The processes of the application: this one, its predecessors, and those that report to its page. */
export class Processes {
  /** By pid, the last that began last. */
  readonly #reports = new Map<number, { readonly report: ProcessReport; readonly at: number }>()
  readonly #server: Pick<Kernel, 'isListening' | 'url'>
  readonly #store
  readonly #timer
  #state: ProcessReport['state'] = 'booting'
  #wasReady = false
  #restarts: number | undefined

  constructor(server: Pick<Kernel, 'isListening' | 'url'>) {
    this.#server = server
    this.#store = handover()?.open(processStore, (entries) => {
      const before = entries.flatMap(([, text]) => this.take(text, false) ?? [])
      this.#restarts = Math.max(-1, ...before.map(({ restarts = 0 }) => restarts)) + 1
      this.report(this.#state)
    })
    this.report('booting')
    // The page of this process asks it.
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
      // A command whose application does not boot closes it before it knows its exit code.
      why:
        this.#state !== 'ended' ? undefined : this.#wasReady ? `exit code ${process.exitCode ?? 0}` : 'a failed start',
      memory: process.memoryUsage.rss(),
      restarts: this.#restarts,
      url: this.#server.isListening ? this.#server.url : undefined,
    }
  }

  report(state: ProcessReport['state']): void {
    this.#state = state
    this.#wasReady ||= state === 'ready'
    this.#store?.set(String(process.pid), JSON.stringify(this.#own), systemClock.now() + reportKept)
  }

  /** Takes the report of a process; returns it if it is one. The next version of the application needs a new one: one that has ended does not repeat it. */
  take(text: unknown, isNew = true): ProcessReport | undefined {
    const report = safely(() => JSON.parse(String(text)) as unknown)
    if (!isReport(report) || report.pid === process.pid) return undefined
    this.#reports.set(report.pid, { report, at: systemClock.now() })
    if (isNew) this.#store?.set(String(report.pid), String(text), systemClock.now() + reportKept)
    if (this.#reports.size > maxReports) this.#reports.delete(this.#reports.keys().next().value!)
    return report
  }

  /** All of them, those that run first. */
  list(): ProcessReport[] {
    const all = [this.#own, ...[...this.#reports.values()].toReversed().map(seen)]
    return all.sort((one, other) => Number(one.state === 'ended') - Number(other.state === 'ended'))
  }

  /** Reports that this process is about to end; resolves when that has arrived. */
  async end(): Promise<void> {
    systemClock.clear(this.#timer)
    // Under `framework serve`, its supervisor sees how the process ends.
    if (this.#timer !== undefined) this.report('ended')
    await this.#store?.sent?.()
  }
}

/** A process that was killed has not reported it. One that may not be asked about counts as running. */
function seen({ report: one, at }: { readonly report: ProcessReport; readonly at: number }): ProcessReport {
  const silent = systemClock.now() - at
  try {
    if (one.state !== 'ended') process.kill(one.pid, 0)
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ESRCH') return { ...one, state: 'ended', why: 'without a report' }
  }
  if (one.state === 'ended' || silent < silentAfter) return one
  return { ...one, why: `no report for ${Math.round(silent / 1_000)} s` }
}
