import { constants } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { within } from '../../kernel/support/within.ts'
import { deferred } from '../../plugins/shared/values/promises.ts'
import { Children, type Ended, saidOf } from '../process/child.ts'
import type { EndSignal } from '../process/ending.ts'
import { beatMs } from './protocol.ts'
import { type Launch, Worker } from './worker.ts'

/** A worker that has run for this many milliseconds does not count as failing in succession. */
const steadyMs = 10_000
/** Milliseconds before a worker that has ended for the second time in succession is replaced; doubled each time. */
const firstPauseMs = 500
const longestPauseMs = 30_000
/** Milliseconds within which a worker has to listen. */
const bootMs = 120_000

export interface Supervision extends Launch {
  /** Seconds without a sign of life after which a worker is killed; 0 for never. */
  readonly stuckAfter: number
  note(line: string): void
}

/** The place of a worker, which passes from one process to the next. */
interface Slot {
  readonly number: number
  /** The worker that listens. */
  worker: Worker | undefined
  since: number
  /** How often in succession it has ended early. */
  failures: number
  /** Whether a rolling restart is replacing the worker: the restart also replaces a worker that ends in the meantime. */
  isRolling: boolean
  refilling: Promise<void> | undefined
  /** Ends the pause before the next attempt. */
  rest: AbortController
}

/** Runs the workers of an application. */
export class Supervisor {
  readonly #supervision: Supervision
  readonly #slots: readonly Slot[]
  /** All running workers, including those that boot and those that close. */
  readonly #alive = new Children<Worker>()
  #lead: Worker | undefined
  /** Whether all workers have listened. */
  #isUp = false
  #rollout: Promise<void> | undefined
  #rollAgain = false
  #code = 0
  readonly #stopped = deferred()

  constructor(supervision: Supervision) {
    this.#supervision = supervision
    this.#slots = Array.from({ length: supervision.of }, (_, index) => ({
      number: index + 1,
      worker: undefined,
      since: 0,
      failures: 0,
      isRolling: false,
      refilling: undefined,
      rest: new AbortController(),
    }))
  }

  /** Runs them until a signal ends them; resolves with the exit code. */
  async run(): Promise<number> {
    const { of, note } = this.#supervision
    this.#alive.onSignal(['SIGINT', 'SIGTERM'], (signal) => this.#end(signal))
    process.on('SIGHUP', () => this.#roll())
    const beat = setInterval(() => this.#lookForStuck(), beatMs)
    // One worker first, which leads: a problem that all of them have is then shown only once.
    const [first, ...others] = this.#slots
    const isUp =
      (await this.#fill(first!, true)) && !(await Promise.all(others.map((slot) => this.#fill(slot)))).includes(false)
    if (isUp && !this.#alive.isStopping) {
      this.#isUp = true
      note(`${of === 1 ? '1 worker listens' : `${of} workers listen`}; SIGHUP replaces them one by one`)
      if (this.#rollAgain) this.#roll()
      await this.#stopped.promise
    } else if (!this.#alive.isStopping) {
      // As for a single process that does not start.
      this.#end('SIGTERM')
      this.#code = 1
    }
    await Promise.all([...this.#alive.running].map((worker) => worker.ended))
    clearInterval(beat)
    return this.#code
  }

  #end(signal: EndSignal): void {
    this.#alive.isStopping = true
    for (const worker of this.#alive.running) worker.stop(signal)
    for (const slot of this.#slots) slot.rest.abort()
    this.#stopped.resolve()
  }

  #begin(slot: Slot, leads: boolean): Worker {
    const ask: Worker['ask'] = async (topic, question) => {
      if (this.#lead === undefined || this.#lead.isEnded) throw new Error('no worker is running at the moment')
      return this.#lead.ask(topic, question)
    }
    const worker = this.#alive.add(new Worker(this.#supervision, slot.number, leads, ask))
    if (leads) this.#lead = worker
    void worker.ended.then((ended) => {
      // One that was still being loaded has no listener for the signal: that is not a failure of a command whose workers have run.
      if (this.#alive.isStopping) this.#code = Math.max(this.#code, this.#isUp && !worker.listens ? 0 : codeOf(ended))
      else this.#onEnd(slot, worker, saidOf(ended))
    })
    return worker
  }

  #onEnd(slot: Slot, worker: Worker, why: string): void {
    if (slot.worker === worker) {
      slot.worker = undefined
      if (performance.now() - slot.since >= steadyMs) slot.failures = 0
      this.#supervision.note(`worker ${slot.number} (${worker.pid}) ended with ${why}`)
      if (!slot.isRolling) this.#refill(slot)
    }
    this.#appoint()
  }

  /** Makes one worker the leading one; by then, the previous one has ended, with all its work. */
  #appoint(): void {
    if (this.#alive.isStopping || (this.#lead !== undefined && !this.#lead.isEnded)) return
    const there = this.#slots.flatMap(({ worker, since }) => (worker === undefined ? [] : [{ worker, since }]))
    // The youngest worker: in a rolling restart, it is not about to end.
    const [next] = there.sort((one, other) => other.since - one.since)
    this.#lead = next?.worker
    this.#lead?.give({ framework: 'lead' })
  }

  /** Starts a worker; resolves to whether it listens, and has therefore taken its place. */
  async #fill(slot: Slot, leads = false): Promise<boolean> {
    const worker = this.#begin(slot, leads)
    const outcome = await within(worker.booted, bootMs, () => 'late' as const)
    if (outcome === true) {
      slot.worker = worker
      slot.since = performance.now()
      this.#appoint()
      return true
    }
    const goesOn = outcome === 'late' ? `has not listened within ${bootMs / 1000} s` : 'goes on without a server'
    const killed = worker.isEnded ? undefined : `${goesOn} and is killed`
    const ended = await worker.leave(0)
    if (!this.#alive.isStopping)
      this.#supervision.note(`worker ${slot.number} ${killed ?? `ended with ${saidOf(ended)} before it listened`}`)
    return this.#alive.isStopping
  }

  /** Replaces a worker that has ended: immediately, and with growing pauses if it ends again and again. */
  #refill(slot: Slot): void {
    const refill = async () => {
      while (!this.#alive.isStopping && !slot.isRolling) {
        const ms = slot.failures === 0 ? 0 : Math.min(firstPauseMs * 2 ** (slot.failures - 1), longestPauseMs)
        slot.failures++
        slot.rest = new AbortController()
        if (ms > 0) await pause(ms, undefined, { signal: slot.rest.signal }).catch(() => {})
        if (this.#alive.isStopping || slot.isRolling) return
        if (await this.#fill(slot)) return
      }
    }
    slot.refilling = refill()
  }

  /** Replaces one worker after the other: each continues until its replacement listens. */
  #roll(): void {
    if (this.#alive.isStopping) return
    if (!this.#isUp || this.#rollout !== undefined) {
      this.#rollAgain = true
      return
    }
    this.#rollAgain = false
    this.#rollout = this.#rollOut().finally(() => {
      this.#rollout = undefined
      if (this.#rollAgain) this.#roll()
    })
  }

  async #rollOut(): Promise<void> {
    const { of, note } = this.#supervision
    const start = performance.now()
    for (const slot of this.#slots) {
      slot.isRolling = true
      slot.rest.abort()
      await slot.refilling
      const before = slot.worker
      const isUp = !this.#alive.isStopping && (await this.#fill(slot))
      if (this.#alive.isStopping) return
      if (isUp && before !== undefined) {
        before.stop('SIGTERM')
        await before.ended
      }
      slot.isRolling = false
      if (slot.worker === undefined) this.#refill(slot)
      if (!isUp) {
        note(`the rolling restart stops at worker ${slot.number}: the workers that were not replaced keep running`)
        return
      }
    }
    note(
      `${of === 1 ? 'the worker was' : `${of} workers were`} replaced in ${Math.round(performance.now() - start)} ms`,
    )
  }

  /** Seconds are counted here and not read from a clock: after a machine has slept, no worker counts as stuck. */
  #lookForStuck(): void {
    const { stuckAfter, note } = this.#supervision
    for (const worker of this.#alive.running) {
      const missed = worker.missed()
      if (stuckAfter === 0 || (missed * beatMs) / 1000 <= stuckAfter) continue
      note(`worker ${worker.number} (${worker.pid}) has been unresponsive for ${stuckAfter} s and is killed`)
      worker.kill()
    }
  }
}

const codeOf = ({ code, signal }: Ended) => code ?? (signal === null ? 1 : 128 + constants.signals[signal])
