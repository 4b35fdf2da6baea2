import type { IncomingMessage } from 'node:http'
import type { Duplex, Readable } from 'node:stream'

/** A body that is sent piece by piece, with backpressure. */
export type StreamBody = ReadableStream<Uint8Array> | Readable | AsyncIterable<Uint8Array | string>

/**
 * What leaves the kernel for a runtime: status, headers and a body that is already bytes or text.
 *
 * `headers` is flat (`[name, value, name, value, …]`), names in lower case, every value free of CR, LF and NUL.
 * `content-length` is present whenever the length is known, unless the body is whole and the request is one that
 * {@link RawRequest.countsBody | counts it}; `body` is `null` for HEAD, 204 and 304 also when a length is declared.
 */
export interface Reply {
  /** The status code; 101 with `takeOver`. */
  readonly status: number
  /** Names and values in turn, names in lower case; a name comes again for a further line, of `set-cookie` for example. */
  readonly headers: readonly string[]
  /** The bytes, a string that is sent as UTF-8, a stream that is read with backpressure, or `null` for no body. */
  readonly body: string | Uint8Array | StreamBody | null
  /** With a stream alone: reports that it failed after its head was sent. Without it the adapter does, which does not know the route. */
  readonly brokeOff?: (error: unknown) => void
  /** With status 101 alone: takes the connection, in place of an answer that is written. */
  readonly takeOver?: TakeOver
}

/**
 * Takes a connection for another protocol (RFC 9110 section 7.8). It answers 101 with the given headers itself, and never throws.
 * Where the runtime wants a value for its request (the `Response` of `Deno.upgradeWebSocket`), it returns that.
 */
export type TakeOver = (connection: Connection, headers: readonly string[]) => unknown

/**
 * A connection that can be taken over, as its `runtime` hands it out: on Node.js the `message` with the `socket` and what has come on it
 * already, the `head`; on Bun the `request` with the `server` that upgrades it; on Deno the `request`, and with `isLeft` whether its client
 * has left meanwhile; under `inject` the `peer` that the request names.
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
  /** The request target as it came: origin form (`/a?b`), or absolute form (`http://host/a`). Neither decoded nor normalised here. */
  readonly target: string
  /**
   * The authority of a target in absolute form, else the Host header; unchecked. Two Host headers come joined with `, `, which
   * the host grammar refuses; a malformed one is passed on as well.
   */
  readonly host: string | undefined
  /** Whether a request without a Host may pass: HTTP/1.0, and requests that never saw a wire. */
  readonly hostOptional: boolean
  /** Whether the connection itself is encrypted. */
  readonly secure: boolean
  /** The version of HTTP, `1.1` for example, where the runtime says it: Bun and Deno do not. */
  readonly version?: string | undefined
  /** The address of the peer, `''` where the runtime does not say it. */
  readonly ip: string
  /** One header by its lower-case name; repeated ones are joined with `, ` (`; ` for cookie). */
  header(name: string): string | undefined
  /** All headers: a new object without prototype, lower-case names, repeated ones joined as in {@link header}. */
  headers(): Record<string, string>
  /** Whether the request declares a body: `content-length` above 0 or `transfer-encoding`. */
  readonly hasBody: boolean
  /** Whether the runtime itself declares the length of a whole body, so that the kernel need not measure it. */
  readonly countsBody?: boolean
  /** The protocol that the client asks for, in lower case, where a plugin handles that protocol and can take over this connection. */
  readonly upgrade?: string | undefined
  /** Whether the body is being read and some of it is still to come. */
  readonly isReceiving: boolean
  /**
   * Reads the whole body, counting bytes while they arrive; whatever `content-length` claims, more than `limit` bytes
   * reject with `PayloadTooLargeError`, and a client that leaves halfway rejects with `BadRequestError`.
   */
  bytes(limit: number): Promise<Uint8Array>
  /** The unread body, piece by piece with backpressure. */
  stream(): AsyncIterable<Uint8Array>
  /** Calls back once when the client goes away before the answer was sent in full. */
  onAbort(listener: () => void): void
  /**
   * Calls back once when this request has ended: the answer has left in full, or the client has gone. For resources
   * that an answer reads while it is sent. Called at once, or in the next turn, when it has ended already.
   */
  onSettled(listener: () => void): void
  /** Why a request that the runtime accepted must still be refused: too many headers, a target that is too long. */
  refusal(): Error | undefined
  /** The connection ends with the answer to this request, and nothing that was sent after it begins. */
  hangUp(): void
  /** Sends the answer. Called exactly once for each request. */
  respond(reply: Reply): void
}

/**
 * The separator between the values of a repeated header. All values are joined, also where `node:http` would keep only the first: Bun and
 * Deno join, and the grammar of such a header refuses a joined value.
 */
export function separator(name: string): string {
  return name === 'cookie' ? '; ' : ', '
}
