import type { RawRequest } from '../http/raw.ts'
import type { Failures } from '../http/response/error-body.ts'

/** Limits on what one connection may cost; every adapter enforces those that its runtime lets it enforce. */
export interface Limits {
  /** Milliseconds until the whole head of a request must have arrived. Default 10000. */
  headersTimeout: number
  /** Milliseconds until the whole request, including its body, must have arrived. Default 30000. */
  receiveTimeout: number
  /** Milliseconds that a connection may be idle between two requests. Default 5000. */
  keepAliveTimeout: number
  /** Maximum size in bytes of the request line and the headers together; more gets a 431. Default 16384. */
  maxHeaderSize: number
  /** Maximum number of header lines; more gets a 431 and never silently cut. Default 1000. */
  maxHeaderCount: number
}

export const defaultLimits: Limits = {
  headersTimeout: 10_000,
  receiveTimeout: 30_000,
  keepAliveTimeout: 5_000,
  maxHeaderSize: 16_384,
  maxHeaderCount: 1_000,
}

/** PEM key material, as `node:https` expects it. */
export interface TlsOptions {
  /** The private key, PEM. */
  key: string | Uint8Array
  /** The certificate, PEM, followed by the intermediate ones. */
  cert: string | Uint8Array
  /** Further certificates, PEM, that complete the chain of `cert`. */
  ca?: string | Uint8Array
  /** The passphrase of an encrypted private key. */
  passphrase?: string
}

/** A protocol for which a plugin takes over connections. */
export interface Upgrade {
  /** The name with which clients ask for the protocol, in lower case: `websocket`. */
  readonly protocol: string
  /** Members to add to the options of `Bun.serve`, which expects its handlers for websockets there. */
  readonly bun?: Readonly<Record<string, unknown>>
  /** Resolves when the clients know that the server is closing, and have left or had their time to leave. */
  readonly ended?: () => Promise<void>
}

/** What an adapter needs to listen. */
export interface ListenOptions {
  /** The port to bind; 0 for a free one. */
  port: number
  /** The address to bind. */
  host: string
  /** What one connection may cost. */
  limits: Limits
  /** Key and certificate, for https. */
  https?: TlsOptions
  /** For requests that are refused before they have a request object. */
  failures: Failures
  /** The protocols for which connections can be taken over. */
  readonly upgrades: readonly Upgrade[]
  /** Returns the port to bind where other processes also listen on it; without this function, no other process may have the port. */
  share?: (host: string, port: number) => Promise<number>
  /** Called when something below the kernel deserves a warning, such as a malformed request or a failed write. */
  onWarning(message: string, error?: unknown): void
}

/** Receives each request and answers it through `raw.respond`. Never throws. */
export type RequestHandler = (raw: RawRequest) => void

/** Where a server listens. */
export interface Address {
  /** The port that was bound, even where the option was 0. */
  port: number
  /** The host as it was given, or as the runtime reports it. */
  host: string
}

/**
 * The binding to one runtime's server. The kernel decides the drain window, the deadline and the order of closing; an
 * adapter only knows these verbs.
 */
export interface Adapter {
  /** Its name, for messages. */
  readonly name: string
  /** Binds the socket; rejects with a clear error when the port is taken or the host cannot be bound. */
  listen(options: ListenOptions, handler: RequestHandler): Promise<Address>
  /** How many connections are open; where the runtime does not report them, an estimate that is never too low. */
  connections(): number
  /** Stops accepting, ends idle connections (even those on which nothing was ever sent), and resolves when the last one has ended. */
  stop(): Promise<void>
  /** Destroys every remaining connection and returns their number; resolves the pending `stop`. */
  cut(): number
}

/**
 * The protocol in a request's `Upgrade` for which connections can be taken over. Without `upgrade` among the options of `Connection`,
 * the header does not apply to this connection (RFC 9110 section 7.8).
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
