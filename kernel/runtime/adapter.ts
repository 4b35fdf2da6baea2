import type { RawRequest } from '../http/raw.ts'
import type { Failures } from '../http/response/failure.ts'

/** Bounds on what one connection may cost; every adapter enforces those its runtime lets it enforce. */
export interface Limits {
  /** Milliseconds until the whole head of a request must have arrived. Default 10000. */
  headersTimeout: number
  /** Milliseconds until the whole request, body included, must have arrived. Default 30000. */
  receiveTimeout: number
  /** Milliseconds a connection may idle between two requests. Default 5000. */
  keepAliveTimeout: number
  /** Bytes of request line and headers together; more is 431. Default 16384. */
  maxHeaderSize: number
  /** Number of header lines; more is 431, never a silent cut. Default 1000. */
  maxHeaderCount: number
}

export const defaultLimits: Limits = {
  headersTimeout: 10_000,
  receiveTimeout: 30_000,
  keepAliveTimeout: 5_000,
  maxHeaderSize: 16_384,
  maxHeaderCount: 1_000,
}

/** PEM key material, as `node:https` takes it. */
export interface TlsOptions {
  /** The private key, PEM. */
  key: string | Uint8Array
  /** The certificate, PEM, with the intermediate ones after it. */
  cert: string | Uint8Array
  /** Further certificates, PEM, by which the chain of `cert` is completed. */
  ca?: string | Uint8Array
  /** What the private key is encrypted with; left out for a key that is not. */
  passphrase?: string
}

/** A protocol that a plugin takes connections over for. */
export interface Upgrade {
  /** The protocol as clients ask for it, in lower case: `websocket`. */
  readonly protocol: string
  /** Members for the options of `Bun.serve`, which takes its handlers for websockets there. */
  readonly bun?: Readonly<Record<string, unknown>>
  /** Resolves when the clients know that the server ends, and have left or had their time. */
  readonly ended?: () => Promise<void>
}

export interface ListenOptions {
  port: number
  host: string
  limits: Limits
  https?: TlsOptions
  /** For requests that are refused before they have a request object. */
  failures: Failures
  /** The protocols that connections can be taken over for. */
  readonly upgrades: readonly Upgrade[]
  /** Returns the port to bind where other processes listen on it as well; without it, no other process may have it. */
  share?: (host: string, port: number) => Promise<number>
  /** Something worth a warning happened below the kernel, such as a malformed request or a failed write. */
  onWarning(message: string, error?: unknown): void
}

/** Takes each request; the answer goes through `raw.respond`. Never throws. */
export type RequestHandler = (raw: RawRequest) => void

/** Where a server listens. */
export interface Address {
  /** The port, also where the option was 0. */
  port: number
  /** The host as it was given, or what the runtime says of it. */
  host: string
}

/**
 * The binding to one runtime's server. The kernel decides the drain window, the deadline and the order of closing; an
 * adapter only knows these verbs.
 */
export interface Adapter {
  readonly name: string
  /** Binds the socket; rejects with a clear error when the port is taken or the host cannot be bound. */
  listen(options: ListenOptions, handler: RequestHandler): Promise<Address>
  /** How many connections are open; where the runtime does not report them, an estimate that is never too low. */
  connections(): number
  /** Stops accepting, ends idle connections (those on which nothing was ever sent too), and resolves when the last one has ended. */
  stop(): Promise<void>
  /** Destroys every remaining connection and returns their number; resolves the pending `stop`. */
  cut(): number
}

/**
 * The protocol in a request's `Upgrade` that connections can be taken over for. Without `upgrade` among the options of `Connection` the
 * header is not of this connection (RFC 9110 section 7.8).
 */
export function upgradeOf(
  upgrades: readonly Upgrade[],
  upgrade: string | null | undefined,
  connection: string | null | undefined,
): string | undefined {
  if (!upgrade || !/(?:^|,)[ \t]*upgrade[ \t]*(?:,|$)/i.test(connection ?? '')) return undefined
  const asked = upgrade.split(',').map((one) => one.trim().toLowerCase())
  return upgrades.find(({ protocol }) => asked.includes(protocol))?.protocol
}
