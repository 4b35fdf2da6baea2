import type { RawRequest, Reply, Rewrite, Rewriter } from '../../../kernel/http/raw.ts'
import { isValidHost } from '../../../kernel/http/request/host.ts'

/** A request that is treated as another one; everything that is not rewritten comes from the original. */
class RewrittenRequest implements RawRequest {
  readonly method: string
  readonly target: string
  readonly host: string | undefined
  readonly hostOptional: boolean
  readonly secure: boolean
  readonly ip: string
  readonly original: RawRequest
  readonly #failure: Error | undefined

  constructor(original: RawRequest, rewrite: Rewrite, failure?: Error) {
    this.original = original
    this.#failure = failure
    this.method = rewrite.method ?? original.method
    this.target = rewrite.target ?? original.target
    this.host = rewrite.host !== undefined && isAcceptable(original) ? rewrite.host : original.host
    this.hostOptional = original.hostOptional
    this.secure = rewrite.secure ?? original.secure
    this.ip = rewrite.ip ?? original.ip
  }

  get version(): string | undefined {
    return this.original.version
  }
  get hasBody(): boolean {
    return this.original.hasBody
  }
  get countsBody(): boolean {
    return this.original.countsBody === true
  }
  get upgrade(): string | undefined {
    return this.original.upgrade
  }
  get isReceiving(): boolean {
    return this.original.isReceiving
  }
  header(name: string): string | undefined {
    return this.original.header(name)
  }
  headers(): Record<string, string> {
    return this.original.headers()
  }
  bytes(limit: number): Promise<Uint8Array> {
    return this.original.bytes(limit)
  }
  stream(): AsyncIterable<Uint8Array> {
    return this.original.stream()
  }
  onAbort(listener: () => void): void {
    this.original.onAbort(listener)
  }
  onSettled(listener: () => void, always?: boolean): void {
    this.original.onSettled(listener, always)
  }
  refusal(): Error | undefined {
    return this.original.refusal() ?? this.#failure
  }
  hangUp(): void {
    this.original.hangUp()
  }
  respond(reply: Reply): boolean {
    return this.original.respond(reply)
  }
}

/** A request whose own Host is missing or malformed keeps it, and is refused: a rewriter cannot hide a bad Host. */
const isAcceptable = ({ host, hostOptional }: RawRequest): boolean =>
  host === undefined ? hostOptional : isValidHost(host)

/** A request as its client sent it. */
export const originalOf = (raw: RawRequest): RawRequest =>
  raw instanceof RewrittenRequest ? originalOf(raw.original) : raw

/**
 * Applies the rewriters in order, each to the result of the previous one. Never throws: a failure becomes a refusal. Later ones still apply:
 * without the address of its client, a refused request would count for its proxy.
 */
export function rewriteRequest(raw: RawRequest, rewriters: readonly Rewriter[]): RawRequest {
  let current = raw
  for (const rewriter of rewriters) {
    try {
      const rewrite = rewriter(current)
      if (rewrite === undefined) continue
      // An async rewriter would count as one that changes nothing, and a check in it would never apply.
      if (rewrite instanceof Promise) {
        rewrite.catch(() => {})
        throw new TypeError('a rewriter returned a promise; it must be synchronous')
      }
      current = new RewrittenRequest(current, rewrite)
    } catch (error) {
      const strange = 'a rewriter threw something that is not an error'
      current = new RewrittenRequest(current, {}, error instanceof Error ? error : new Error(strange, { cause: error }))
    }
  }
  return current
}
