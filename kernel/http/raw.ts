import type { IncomingMessage } from 'node:http'
import type { Duplex, Readable } from 'node:stream'

/** A body that is sent piece by piece, with backpressure. */
export type StreamBody = ReadableStream<Uint8Array> | Readable | AsyncIterable<Uint8Array | string>

/**
 * What the kernel passes to a runtime: status, headers and a body that is already bytes or text.
 *
 * `headers` is flat (`[name, value, name, value, …]`), names in lower case, every value free of CR, LF and NUL.
 * `content-length` is present whenever the length is known, unless the body is whole and the runtime declares its length
 * ({@link RawRequest.countsBody}); `body` is `null` for HEAD, 204 and 304, even when a length is declared.
 */
export interface Reply {
  /** The status code; 101 with `takeOver`. */
  readonly status: number
  /** Names and values in turn, names in lower case; a name is repeated for each further line, for example of `set-cookie`. */
  readonly headers: readonly string[]
  /** The bytes, a string that is sent as UTF-8, a stream that is read with backpressure, or `null` for no body. */
  readonly body: string | Uint8Array | StreamBody | null
  /** Only with a stream: reports that it failed after the head was sent. Without it the adapter does, which does not know the route. */
  readonly brokeOff?: (error: unknown) => void
  /** Only with status 101: takes over the connection, instead of a response being written. */
  readonly takeOver?: TakeOver
}

/**
 * Takes over a connection for another protocol (RFC 9110 section 7.8). It answers 101 with the given headers itself, and never throws.
 * Where the runtime expects a value for its request (the `Response` of `Deno.upgradeWebSocket`), it returns that value.
 */
export type TakeOver = (connection: Connection, headers: readonly string[]) => unknown

/**
 * A connection that can be taken over, as its `runtime` passes it: on Node.js the `message` with the `socket` and the `head`, the bytes
 * that have already arrived on it; on Bun the `request` with the `server` that upgrades it; on Deno the `request`, with `isLeft` saying
 * whether its client has left in the meantime; under `inject` the `peer` that the request names.
 */
export type Connection =
  | { readonly runtime: 'node'; readonly message: IncomingMessage; readonly socket: Duplex; readonly head: Buffer }
  | { readonly runtime: 'bun'; readonly request: globalThis.Request; readonly server: object }
  | { readonly runtime: 'deno'; readonly request: globalThis.Request; readonly isLeft: boolean }
  | { readonly runtime: 'inject'; readonly peer: unknown }

/**
 * What a runtime passes to the kernel: one request, and the way to answer it.
 *
 * Everything is read on demand. An adapter implements it as a class with prototype members, because an object
 * literal with closures for each request costs more than all the rest of a small request.
 */
export interface RawRequest {
  /** The method as it was sent. */
  readonly method: string
  /** The request target as received: origin form (`/a?b`) or absolute form (`http://host/a`). Neither decoded nor normalised here. */
  readonly target: string
  /**
   * The authority of a target in absolute form, otherwise the Host header; unchecked. Two Host headers are joined with `, `, which
   * the host grammar refuses; a malformed one is also passed on.
   */
  readonly host: string | undefined
  /** Whether a request without a Host is allowed: one over HTTP/1.0, or one that did not come over a network. */
  readonly hostOptional: boolean
  /** Whether the connection itself is encrypted. */
  readonly secure: boolean
  /** The version of HTTP, such as `1.1`, where the runtime reports it: Bun and Deno do not. */
  readonly version?: string | undefined
  /** The address of the peer, `''` where the runtime does not report it. */
  readonly ip: string
  /** One header by its lower-case name; repeated headers are joined with `, ` (`; ` for cookie). */
  header(name: string): string | undefined
  /** All headers: a new object without a prototype, with lower-case names and repeated headers joined as in {@link header}. */
  headers(): Record<string, string>
  /** Whether the request declares a body: `content-length` above 0 or `transfer-encoding`. */
  readonly hasBody: boolean
  /** Whether the runtime itself declares the length of a whole body, so that the kernel does not have to measure it. */
  readonly countsBody?: boolean
  /** The protocol that the client asks for, in lower case, where a plugin handles that protocol and can take over this connection. */
  readonly upgrade?: string | undefined
  /** Whether the body is being read and some of it is still to come. */
  readonly isReceiving: boolean
  /**
   * Reads the whole body, counting the bytes that arrive. Rejects with `PayloadTooLargeError` for more than `limit` bytes,
   * whatever `content-length` claims, and with `BadRequestError` for a client that leaves halfway.
   */
  bytes(limit: number): Promise<Uint8Array>
  /** The unread body, piece by piece with backpressure. */
  stream(): AsyncIterable<Uint8Array>
  /** Calls back once if the client leaves before the response has been sent in full; immediately, if it has left already. */
  onAbort(listener: () => void): void
  /**
   * Calls back once when this request has ended: the response has left in full, or the client has gone. For resources
   * that a response reads while it is sent. Called immediately, or in the next turn, if the request has already ended.
   * `always`: also for a client that leaves before its response, where a runtime reports that only when asked.
   */
  onSettled(listener: () => void, always?: boolean): void
  /** Why a request that the runtime accepted must still be refused: too many headers, a target that is too long. */
  refusal(): Error | undefined
  /** Ends the connection with the response to this request; no request that was sent after it begins. */
  hangUp(): void
  /** Sends the response. Called exactly once for each request. Returns whether the client was still there, as far as the runtime knows. */
  respond(reply: Reply): boolean
}

/** What a request is treated as; members that are left out stay as received. */
export interface Rewrite {
  /** The method that the request is routed by: for example `DELETE`, for a form that asks for it. */
  readonly method?: string
  /** The path and the query that the request is routed by: `/users?page=2`. */
  readonly target?: string
  /** The authority: `example.com:8080`. A request whose own `Host` is missing or malformed keeps it, and is refused. */
  readonly host?: string
  /** Whether the client's own connection is encrypted: `req.protocol` is `https` then. */
  readonly secure?: boolean
  /** The address of the client, which `req.ip` then has. */
  readonly ip?: string
}

/** Looks at a request before it is routed; an error it throws is answered like any other. */
export type Rewriter = (raw: RawRequest) => Rewrite | undefined
