import type { Connection } from '../../http/raw.ts'
import { systemClock } from '../../support/clock.ts'
import { Deadlines } from '../../support/deadlines.ts'
import { safely } from '../../support/safely.ts'
import { defaultLimits, type Limits, type ListenOptions, type Upgrade } from '../adapter.ts'
import type { Activity } from '../drain-moments.ts'

/** The state of a request, reported only if it is not answered immediately; `left`: done, but its body was not read to the end. */
export type Phase = 'working' | 'done' | 'left'

export type HeaderLines = readonly (readonly [name: string, value: string])[]

/** Facts that a web request does not show about itself. One object for a whole server. */
export interface FetchContext {
  readonly limits: Limits
  readonly secure: boolean
  /** Whether the request came over a socket: then its Host is a header, and its body is as long as its head says. */
  readonly wire: boolean
  /** The time limits within which bodies must arrive; without them, there is no limit. */
  readonly deadlines: Deadlines | undefined
  /**
   * Returns all header lines of a request, in any order and any case. For runtimes that accept heads above `maxHeaderSize`: there, the
   * lines are counted, and a request keeps them.
   */
  readonly linesOf: ((request: globalThis.Request) => HeaderLines) | undefined
  /** The protocols for which a connection can be taken over. */
  readonly upgrades: readonly Upgrade[]
  readonly activity: Activity
  /** The connection of a request, for one of those protocols. */
  connection(request: globalThis.Request): Connection
  phase(request: globalThis.Request, phase: Phase): void
  onWarning(message: string, error?: unknown): void
}

/** Where a web request comes from: its address, or the second argument that `Bun.serve` and `Deno.serve` pass to a fetch handler. */
export interface FetchClient {
  /** The address of the client. */
  readonly ip?: string | undefined
}

interface PlatformClient extends FetchClient {
  readonly requestIP?: (request: globalThis.Request) => { readonly address: string } | null
  readonly remoteAddr?: { readonly hostname?: string }
}

/** The address of the client; `''` where the platform passes none, or something else. */
export function addressOf(request: globalThis.Request, client: unknown): string {
  const from = (client ?? {}) as PlatformClient
  if (from.ip !== undefined) return from.ip
  if (typeof from.requestIP === 'function') return from.requestIP(request)?.address ?? ''
  // Deno forgets it with the end of the request, and throws then.
  return safely(() => from.remoteAddr?.hostname) ?? ''
}

/** The context of a request that did not come over a socket. */
export const inProcess: Omit<FetchContext, 'activity'> = {
  limits: defaultLimits,
  secure: false,
  wire: false,
  deadlines: undefined,
  linesOf: undefined,
  upgrades: [],
  connection: (request) => ({ runtime: 'deno', request, isLeft: false }),
  phase: () => {},
  onWarning: () => {},
}

/** What follows from the options of a server that listens. */
export const overSockets = ({ limits, https, upgrades, onWarning }: ListenOptions) => ({
  limits,
  upgrades,
  onWarning,
  secure: https !== undefined,
  wire: true,
  deadlines: new Deadlines(limits.receiveTimeout, systemClock),
})
