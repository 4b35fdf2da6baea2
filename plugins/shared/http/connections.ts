import { clock, type Request } from '../../../kernel/index.ts'
import { LruMap } from '../values/lru.ts'
import { madeIn } from '../values/memoize.ts'

/** The close code of a websocket whose caller has been signed out; 4000 to 4999 belong to applications (RFC 6455 section 7.4.2). */
export const signedOut = { code: 4401, reason: 'signed out' } as const

/** Milliseconds for which an order also ends what opens later: a request that was accepted before may still be on its way, and a ticket lasts an hour at most. */
const remembered = 3_600_000

/** What a connection ends with: a caller, a session, a log-in. */
export interface Hold {
  readonly key: string
  /** When the credential was checked, on the monotonic clock; missing where the key is never valid again once it has ended. */
  readonly since?: number
}

/** Sends an order to the other instances. */
type Carrier = (key: string) => Promise<void>

/**
 * The sockets and streams of a server that must end when their caller is signed out. Nothing is held for connections without a caller.
 */
export class Connections {
  readonly #held = new Map<string, Set<() => void>>()
  readonly #ended = new LruMap<number>({ max: 10_000 })
  readonly #holdsOf = new Set<(req: Request) => readonly Hold[]>()
  readonly carriers = new Set<Carrier>()

  /** Says what connections end with; called when one opens. */
  name(holdsOf: (req: Request) => readonly Hold[]): void {
    this.#holdsOf.add(holdsOf)
  }

  /** What the connection of a request ends with. */
  holdsOf(req: Request): Hold[] {
    return [...this.#holdsOf].flatMap((holdsOf) => holdsOf(req))
  }

  /** Notes a connection; returns the function that forgets it, `undefined` if it has no caller or has been ended: `end` is called at once if the caller has been signed out meanwhile. */
  hold(req: Request, end: () => void): (() => void) | undefined {
    const holds = this.holdsOf(req)
    if (holds.length === 0) return undefined
    if (holds.some(({ key, since = -Infinity }) => (this.#ended.get(key) ?? -Infinity) > since)) {
      end()
      return undefined
    }
    for (const { key } of holds) madeIn(this.#held, key, () => new Set()).add(end)
    return () => {
      for (const { key } of holds) {
        const ends = this.#held.get(key)
        if (ends?.delete(end) && ends.size === 0) this.#held.delete(key)
      }
    }
  }

  /** Ends connections of this instance. */
  endHere(key: string): void {
    this.#ended.set(key, clock.monotonic(), remembered)
    for (const end of [...(this.#held.get(key) ?? [])]) end()
  }

  /** Ends all connections with a caller: an order may have been missed. */
  endAll(): void {
    for (const ends of [...this.#held.values()]) for (const end of [...ends]) end()
  }

  /** Ends connections of all instances. Rejects if the others cannot be reached; those of this instance have ended then. */
  async end(key: string): Promise<void> {
    this.endHere(key)
    await Promise.all([...this.carriers].map((carry) => carry(key)))
  }
}

/** The key of what a log-in has opened. */
export const loginKey = (login: string) => `login ${login}`

const all = new Map<object, Connections>()

/** The connections of a server; `undefined` where no plugin finds out who is calling. */
export const connectionsOf = (server: object): Connections | undefined => all.get(server)

/** All of this process, for what ends in each server: tokens have random ids. */
export const everyConnections = (): Iterable<Connections> => all.values()

/** Begins to hold the connections of a server, until it closes. */
export function openConnections(ctx: { readonly server: object; onClose(hook: () => void): void }): Connections {
  ctx.onClose(() => void all.delete(ctx.server))
  return madeIn(all, ctx.server, () => new Connections())
}
