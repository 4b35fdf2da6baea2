import { randomUUID } from 'node:crypto'
import {
  ArgumentsError,
  clock,
  defineErrors,
  isInTime,
  type Logger,
  systemClock,
  Trace,
  type TraceOutcome,
} from '../../kernel/index.ts'
import type { LockClaim, LockStore, RepeatedTick } from '../shared/locks/contract.ts'
import { type Held, LockKeeper } from '../shared/locks/keeper.ts'
import { reporting } from '../shared/stores/availability.ts'
import { nameInTenant } from '../shared/values/tenants.ts'
import { Call, Running } from '../shared/work/running.ts'
import { Lines } from './lines.ts'
import { type LockOptions, lockOptions } from './options.ts'

const { LockHeldError, LockLostError, LockStoreError, LocksClosedError } = defineErrors({
  // Not 503: the server is well, and proxies stop sending requests to one that responds with it.
  LockHeldError: [
    423,
    (key: string, wait: number) => {
      const how = wait === 0 ? 'and the caller does not wait for it' : `and was not released within ${wait} ms`
      return `the lock ${JSON.stringify(key)} is held, ${how}. Try again later, or set wait`
    },
  ],
  LockLostError: (key: string) =>
    `the lock ${JSON.stringify(key)} was lost while its work ran: it was not renewed within its ttl, or another process has it`,
  LockStoreError: [
    503,
    (key: string) => `the store of the locks does not respond: whether ${JSON.stringify(key)} is held is unknown`,
  ],
  LocksClosedError: [503, () => 'locks need a server that has booted and has not closed'],
})

/** A lock that is held, as the work under it sees it. */
export interface HeldLock {
  /** Aborts when the lock is lost, with a `LockLostError`, and when the server closes. */
  readonly signal: AbortSignal
  /**
   * A number above those of all earlier holders of this key: 1.7e15, the time in microseconds, and more with Redis. Whatever the work writes
   * to can keep the highest one and refuse lower ones.
   */
  readonly fence: number
}

/** The work under a lock, with the time that it waited for it. */
export interface LockTrace extends TraceOutcome {
  /** The name of the lock. */
  readonly key: string
  /** Milliseconds until it was acquired; `undefined` if it was not. */
  waited?: number
  /** The fence; `undefined` if it was not acquired. */
  fence?: number
}

/** How the work under a lock ended. */
export const outcomes = ['ok', 'failed', 'held', 'lost', 'unreachable'] as const

/** How it ended. The work itself may have failed with the error of another lock. */
export function outcomeOf({ error, fence }: LockTrace): (typeof outcomes)[number] {
  if (error === undefined) return 'ok'
  const code = (Object(error) as { readonly code?: unknown }).code
  if (fence !== undefined) return code === LockLostError.code ? 'lost' : 'failed'
  if (code === LockHeldError.code) return 'held'
  return code === LockStoreError.code ? 'unreachable' : 'failed'
}

const lockTrace = new Trace<LockTrace>('lock')

/** Milliseconds between two questions of a caller that waits: the first, and the longest after they have doubled. */
const pauses = { first: 20, longest: 200 }
/** Milliseconds for which a caller that waits is next in line after it has asked. */
const reserve = 1_000
/**
 * Milliseconds for which a caller has to have waited before it may be next: longer than a pause of any other. Otherwise a process that takes the lock
 * again and again would be next each time before another one has asked.
 */
const reserveAfter = 300

interface Acquired {
  readonly claim: LockClaim & { readonly fence: number }
  /** When it was asked for. */
  readonly since: number
}

/** A lock as the inspector shows it. */
export interface ShownLock {
  readonly key: string
  readonly fence: number
  readonly since: Date
}

/**
 * The locks of a server: work that only one at a time may do, across all processes that share the store.
 *
 * @example
 * const server = new Server({ plugins: { locks: { store: 'redis' } } })
 * server.post('/orders/:id/pay', (req) =>
 *   server.services.get('locks').withLock(`order:${req.params.id}`, { wait: 2_000 }, async ({ signal }) => {
 *     await fetch('https://bank.example/pay', { method: 'POST', signal })
 *     return { isPaid: true }
 *   }),
 * )
 */
export class LockService {
  readonly #ttl: number
  #store: LockStore | undefined
  #keeper: LockKeeper<LockClaim & { readonly fence?: number }> | undefined
  #log: Logger | undefined
  readonly #running = new Running()
  readonly #lines = new Lines()
  readonly #held = new Map<Held, ShownLock>()
  /** How much work has ended in which way. @internal */
  readonly counts = Object.fromEntries(outcomes.map((one) => [one, 0])) as Record<(typeof outcomes)[number], number>

  /** @internal */
  constructor(ttl: number) {
    this.#ttl = ttl
  }

  /**
   * Does work while it holds a lock, and returns its result. The lock is renewed until the work has settled, and then released. Locks are not
   * reentrant: work that asks for its own lock waits for itself.
   *
   * The key may be any string, and belongs to the running tenant. If the lock is lost meanwhile, the `signal` aborts, and the call rejects even if the work succeeds: another
   * process may have done the same.
   *
   * @throws (as a rejection) the error of the work; LockHeldError (423) if another holder has the lock for longer than `wait`; LockLostError;
   * LockStoreError (503), without doing the work, if the store does not respond; LocksClosedError (503); OptionError.
   * @example
   * const locks = server.services.get('locks')
   * const report = await locks.withLock('reports:daily', { ttl: 10_000, wait: 5_000 }, async ({ signal, fence }) => {
   *   signal.throwIfAborted()
   *   return { fence }
   * })
   */
  async withLock<Result>(
    key: string,
    options: LockOptions,
    work: (held: HeldLock) => Result | PromiseLike<Result>,
  ): Promise<Result> {
    if (typeof key !== 'string' || key === '') throw ArgumentsError('withLock', 'a key, a string that is not empty')
    if (typeof work !== 'function') throw ArgumentsError('withLock', 'a key, options and a function')
    const { ttl = this.#ttl, wait } = lockOptions.parse(options, 'withLock')
    const call = new Call(this.#running)
    const event: LockTrace = { key: nameInTenant(key) }
    try {
      const result = await lockTrace.run(
        () => event,
        () => this.#lockAndRun(event, { ttl, wait }, call, work),
      )
      this.counts.ok++
      return result
    } catch (error) {
      this.counts[outcomeOf({ ...event, error })]++
      throw error
    } finally {
      call.end()
    }
  }

  async #lockAndRun<Result>(
    event: LockTrace,
    { ttl, wait }: Required<LockOptions>,
    call: Call,
    work: (held: HeldLock) => Result | PromiseLike<Result>,
  ): Promise<Result> {
    const { key } = event
    const began = clock.monotonic()
    const { claim, since } = await this.#acquire(key, ttl, wait)
    const { fence } = claim
    Object.assign(event, { fence, waited: clock.monotonic() - began })
    let lost: Error | undefined
    const onLost = () => {
      lost = LockLostError(key)
      this.#log!.error({ err: lost }, lost.message)
      call.abort(lost)
    }
    const held = this.#keeper!.hold(claim, { ttl, patience: ttl, since, onLost })
    this.#held.set(held, { key, fence, since: new Date(clock.now()) })
    try {
      const result = await work({ signal: call.signal, fence })
      // In a process that was stopped or blocked, the work may end before the timer that would report the loss.
      if (lost === undefined && !held.isOurs) onLost()
      if (lost !== undefined) throw lost
      return result
    } finally {
      this.#held.delete(held)
      await held.release()
      this.#lines.wake(key)
    }
  }

  async #acquire(key: string, ttl: number, wait: number): Promise<Acquired> {
    const end = clock.monotonic() + wait
    if (wait === 0) {
      // Not before those that wait.
      const acquired = this.#lines.has(key) ? undefined : await this.#ask(key, ttl, 0)
      if (acquired === undefined) throw LockHeldError(key, wait)
      return acquired
    }
    if (!(await this.#lines.enter(key, wait))) throw LockHeldError(key, wait)
    const owner = randomUUID()
    const began = clock.monotonic()
    try {
      for (let pause = pauses.first; ; pause = Math.min(pause * 2, pauses.longest)) {
        const left = end - clock.monotonic()
        const isPatient = clock.monotonic() - began >= reserveAfter
        const acquired = await this.#ask(key, ttl, left > 0 && isPatient ? reserve : 0, owner)
        if (acquired !== undefined) return acquired
        if (left <= 0) throw LockHeldError(key, wait)
        // Not all processes at once.
        await this.#lines.pause(key, Math.min(pause * (0.75 + Math.random() / 2), left))
      }
    } catch (error) {
      void this.#store?.leave({ key, owner, ttl }).catch(() => {})
      throw error
    } finally {
      this.#lines.leave(key)
    }
  }

  /** Asks the store once; returns `undefined` if another holder has the lock. */
  async #ask(key: string, ttl: number, next: number, owner: string = randomUUID()): Promise<Acquired | undefined> {
    const [store, keeper] = [this.#store, this.#keeper]
    if (store === undefined || keeper === undefined) throw LocksClosedError()
    const since = clock.monotonic()
    const wish = { key, owner, ttl }
    const response = await keeper.ask(async () => ({ fence: await store.acquire(wish, next) }), ttl)
    // A store that lies must not let anyone in.
    if (response === undefined || !['undefined', 'number'].includes(typeof response.fence)) {
      keeper.abandon(wish)
      throw LockStoreError(key)
    }
    const { fence } = response
    if (fence === undefined) return undefined
    if (this.#store === undefined) {
      void store.release(wish).catch(() => {})
      throw LocksClosedError()
    }
    return { claim: { ...wish, fence }, since }
  }

  /**
   * Claims a tick of what several processes do: of those that share the store, one receives `true`. A store that does not respond is asked again until
   * the next tick, for up to a minute. @internal
   */
  async claimTick({ key, time, next = Number.POSITIVE_INFINITY, signal }: RepeatedTick): Promise<boolean> {
    const wish = { key, tick: time, owner: randomUUID(), ttl: this.#ttl, exclusive: false as const }
    for (const end = Math.min(clock.now() + 60_000, next); ; await clock.sleep(1_000, signal)) {
      const claimed = await this.#keeper?.ask(async () => this.#store?.claim(wish))
      if (claimed === 'early')
        throw new Error('the clock of this machine is more than a minute ahead of the store of the locks')
      if (claimed !== undefined) return claimed === 'claimed'
      if (clock.now() + 1_000 >= end) throw LockStoreError(key)
    }
  }

  /** @internal */
  open(store: LockStore, log: Logger): void {
    this.#store = store
    this.#log = log
    const down = 'the store of the locks does not respond: work that needs a lock fails'
    this.#keeper = new LockKeeper(store, reporting(log, down, 'the store of the locks responds again', 'error'))
  }

  /** Rejects unless the store responds. @internal */
  async check(): Promise<void> {
    await this.#store?.release({ key: '', owner: '', ttl: 1 })
  }

  /** The locks that this process holds. @internal */
  get held(): readonly ShownLock[] {
    return [...this.#held.values()]
  }

  /** The number of callers that wait, by key. @internal */
  get waiting(): ReadonlyMap<string, number> {
    return new Map(this.#lines.counts())
  }

  /** Resolves when no work runs under a lock, and none waits for one. @internal */
  idle(): Promise<void> {
    return this.#running.idle()
  }

  /** Aborts the remaining work, waits for it for half of the time, and releases its locks. @internal */
  async close(timeLeft: number): Promise<void> {
    const [keeper, log] = [this.#keeper, this.#log]
    this.#store = undefined
    const reason = LocksClosedError()
    this.#lines.close(reason)
    this.#running.abort(reason)
    if (!(await isInTime(this.#running.idle(), timeLeft / 2, systemClock))) {
      const keys = this.held.map(({ key }) => key)
      log?.warn({ keys }, `closing no longer waits for the work under the locks ${keys.join(', ')}, which are released`)
      await isInTime(Promise.all([...this.#held.keys()].map((held) => held.release())), timeLeft / 4, systemClock)
      this.#running.abandon(reason)
    }
    await keeper
      ?.close()
      .catch((error: unknown) => log?.warn({ err: error }, 'the store of the locks cannot be closed'))
  }
}
