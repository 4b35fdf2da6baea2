import { clock, isInTime, systemClock, type Timer } from '../../../kernel/index.ts'
import { Availability, answerWithin } from '../stores/availability.ts'
import type { HeldStore } from './contract.ts'

/** A claim that this process holds. */
export interface Held {
  /** Whether no other owner can have it yet, by the clock of this process; it may not have been able to renew it in time. */
  readonly isOurs: boolean
  release(): Promise<void>
}

/** How a claim is held. */
export interface Holding {
  readonly ttl: number
  /** Called when another owner has the claim, or it could not be renewed for `patience` milliseconds. It is then no longer renewed. */
  onLost(): void
  /** Default: a claim that cannot be renewed is kept, since no other process can claim it from that store either. */
  readonly patience?: number
  /** When the claim was asked for, by the clock of `performance.now()`. */
  readonly since?: number
}

const askFor = 3_000
const closeWithin = 300

/** Asks a store of locks, renews the claims that this process holds, and releases those of which it does not know whether it has them. */
export class LockKeeper<Claim> {
  readonly #store: HeldStore<Claim>
  readonly #availability: Availability
  readonly #abandoned: Claim[] = []
  /** Functions that end the renewals. */
  readonly #renewals = new Set<() => void>()

  constructor(store: HeldStore<Claim>, onChange: (isDown: boolean, error?: unknown) => void) {
    this.#store = store
    this.#availability = new Availability(onChange)
  }

  /** Returns `undefined` when the store cannot be reached, which is reported once per change. */
  async ask<Result>(question: () => Promise<Result>, within = askFor): Promise<Result | undefined> {
    const result = await this.#availability.watch(() => answerWithin(question(), Math.min(within, askFor)))
    if (!this.#availability.isDown)
      for (const claim of this.#abandoned.splice(0)) void this.#store.release(claim).catch(() => {})
    return result
  }

  /** Remembers a claim to be released: a store that did not respond may execute it later, and block a key for a process that gave up. */
  abandon(claim: Claim): void {
    if (this.#abandoned.length < 1000) this.#abandoned.push(claim)
  }

  /** Renews a claim until it is released or lost. */
  hold(claim: Claim, { ttl, onLost, patience, since = clock.monotonic() }: Holding): Held {
    let isOver = false
    let timer: Timer | undefined
    let deadline: Timer | undefined
    let renewal: Promise<void> | undefined
    let until = Number.POSITIVE_INFINITY
    const end = () => {
      isOver = true
      clock.clear(timer)
      clock.clear(deadline)
      this.#renewals.delete(end)
    }
    const lose = () => {
      end()
      onLost()
    }
    const keepFrom = (from: number) => {
      clock.clear(deadline)
      if (patience === undefined) return
      until = from + patience
      const left = Math.max(0, until - clock.monotonic())
      deadline = clock.setTimeout(() => {
        this.abandon(claim)
        lose()
      }, left)
    }
    const renewLater = () => {
      timer = clock.setTimeout(() => {
        renewal = renew()
        return renewal
      }, ttl / 3)
    }
    const renew = async () => {
      const asked = clock.monotonic()
      const renewed = await this.ask(() => this.#store.renew(claim), ttl)
      if (isOver) return
      if (renewed === false) return lose()
      if (renewed) keepFrom(asked)
      renewLater()
    }
    this.#renewals.add(end)
    keepFrom(since)
    renewLater()
    return {
      get isOurs() {
        return clock.monotonic() < until
      },
      release: async () => {
        if (isOver) return
        end()
        // A renewal that the store carries out after the release would claim it again, for work that has ended.
        await renewal
        const isReleased = await this.ask(async () => this.#store.release(claim).then(() => true))
        if (isReleased !== true) this.abandon(claim)
      },
    }
  }

  /**
   * Closes the store without waiting for one that does not respond, since closing has a deadline. The claims of work that no one waits for any
   * more end with their `ttl`. Rejects if it cannot be closed.
   */
  async close(): Promise<void> {
    for (const end of this.#renewals) end()
    await isInTime((async () => this.#store.close?.())(), closeWithin, systemClock)
  }
}
