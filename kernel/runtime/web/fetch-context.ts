import type { Connection } from '../../http/raw.ts'
import type { Deadlines } from '../../support/deadlines.ts'
import { defaultLimits, type Limits, type Upgrade } from '../adapter.ts'
import type { Activity } from '../drain-moments.ts'

/** The state of a request, reported only for those that are not answered at once; `left`: done, and its body was not read to its end. */
export type Phase = 'working' | 'done' | 'left'

export type HeaderLines = readonly (readonly [name: string, value: string])[]

/** Facts that a web request does not show about itself. One object for a whole server. */
export interface FetchContext {
  readonly limits: Limits
  readonly secure: boolean
  /** The request came over a socket: its Host is a header, and its body is as long as its head says. */
  readonly wire: boolean
  /** The runtime speaks HTTP/2 here, whose requests have their authority in place of a Host, and does not show which do. */
  readonly hasAuthority: boolean
  /** The address of a request has the authority of an absolute target, as it came; where it is Host in any case, that target's is lost. */
  readonly showsTarget: boolean
  /** The runtime keeps a connection whose client has not sent all of its request, unless an answer breaks off. */
  readonly keepsUnread: boolean
  /** Until when a body must have arrived; without them there is no limit. */
  readonly deadlines: Deadlines | undefined
  /** The kernel does not refuse a missing Host: the runtime does where that is an error. */
  readonly hostOptional: boolean
  /**
   * All header lines of a request, in any order and any case. Where the runtime accepts heads above `maxHeaderSize`: there they are
   * counted, and a request keeps them.
   */
  readonly linesOf: ((request: globalThis.Request) => HeaderLines) | undefined
  /** The protocols that a connection can be taken over for. */
  readonly upgrades: readonly Upgrade[]
  readonly activity: Activity
  /** The connection of a request, for one of those protocols. */
  connection(request: globalThis.Request): Connection
  /** The address of the peer. */
  ip(request: globalThis.Request, info: unknown): string
  phase(request: globalThis.Request, phase: Phase): void
  onWarning(message: string, error?: unknown): void
}

/** The context of a request that did not come over a socket. */
export const inProcess: Omit<FetchContext, 'activity'> = {
  limits: defaultLimits,
  secure: false,
  wire: false,
  hasAuthority: false,
  showsTarget: false,
  keepsUnread: false,
  deadlines: undefined,
  hostOptional: true,
  linesOf: undefined,
  upgrades: [],
  connection: (request) => ({ runtime: 'deno', request, isLeft: false }),
  ip: () => '',
  phase: () => {},
  onWarning: () => {},
}
