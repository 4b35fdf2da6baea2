/** Who holds a lock, or wants to. */
export interface LockClaim {
  readonly key: string
  /** The id of the request, a new one each time. Repeating a request with the same id has the same result. */
  readonly owner: string
  /** Milliseconds after which a holder that has not renewed its claim is considered dead, by the clock of the store. */
  readonly ttl: number
}

/** A request to do what is due at a tick. */
export interface TickClaim extends LockClaim {
  /** The tick, in milliseconds since 1970; `undefined` for work that no tick requires. */
  readonly tick: number | undefined
  /** Whether work of the key must not overlap, so that its lock is held. `wait`: a tick that finds it held can still be claimed later. */
  readonly exclusive: false | true | 'wait'
}

/**
 * `claimed`: the caller does it. `taken`: another one has claimed this tick or a later one. `busy`: another one holds the lock.
 * `early`: the clock of the caller is more than a minute ahead of the store's clock.
 */
export type TickClaimed = 'claimed' | 'taken' | 'busy' | 'early'

/** A time at which one of several processes does something. */
export interface RepeatedTick {
  readonly id: string
  readonly time: number
  /** The name of what is repeated, in all processes. */
  readonly key: string
  /** The time of the next one. */
  readonly next: number | undefined
  /** Aborts when the repetition ends. */
  readonly signal: AbortSignal
}

/** What a lock needs after it was claimed, whichever store has it. */
export interface HeldStore<Claim> {
  /** Extends a claim by another `ttl`; `false`: it is no longer the caller's. */
  renew(claim: Claim): Promise<boolean>
  /** Ends a claim; does nothing to that of another owner. */
  release(claim: Claim): Promise<void>
  close?(): void | Promise<void>
}

/** A store of locks. Each method is one atomic step; a rejection means that the store is unreachable. */
export interface LockStore extends HeldStore<LockClaim & { readonly fence?: number }> {
  /**
   * Takes a lock and returns its fence, a number above those of all earlier holders of the key; `undefined` while another holds it or is
   * next in line. A caller that waits passes the milliseconds for which it wants to be next in line, unless there is one: without
   * that, a process that takes the lock again and again would shut out one that asks now and then.
   */
  acquire(claim: LockClaim, reserve: number): Promise<number | undefined>
  /** Gives up the place in line. */
  leave(claim: LockClaim): Promise<void>
  /** Claims a tick; of all callers that ask, exactly one receives `claimed`. */
  claim(claim: TickClaim): Promise<TickClaimed>
}

/** A tick further ahead of the store's own clock than this is refused: it would prevent all earlier ticks from being claimed. */
export const aheadMs = 60_000
/** Milliseconds for which the last tick is remembered. */
export const rememberMs = 40 * 86_400_000
/** The default `ttl`. */
export const lockTtl = 30_000
