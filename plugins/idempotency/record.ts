import type { Response } from '../../kernel/index.ts'

type Headers = ReturnType<Response['getHeaders']>

/** The value of a key: of a request that runs, or of one that has been carried out, with its response. */
export interface IdempotencyRecord {
  /** The hash of method, address and body. */
  readonly fingerprint: string
  /** The process and the request that run; none once it has been carried out. */
  readonly owner?: string
  /** The response; without it, it was a stream or too large. */
  readonly response?: KeptResponse
}

interface KeptResponse {
  readonly status: number
  readonly headers: readonly (readonly [name: string, value: string | readonly string[]])[]
  readonly text?: string
  /** Bytes, in base64. */
  readonly bytes?: string
}

/** Headers that describe one transmission, or that only the first client may receive. */
const perMessage = new Set(['content-length', 'connection', 'keep-alive', 'transfer-encoding', 'date', 'set-cookie'])

/** What is kept of a response; headers that were set before the handler ran, such as those of cors, belong to each request. */
export function keptOf(res: Response, before: Headers, maxSize: number): KeptResponse | undefined {
  const body = res.encode()
  const isText = typeof body === 'string'
  if (body !== null && !isText && !(body instanceof Uint8Array)) return undefined
  if (body !== null && Buffer.byteLength(body) > maxSize) return undefined
  const headers = Object.entries(res.getHeaders()).filter(
    ([name, value]) => !perMessage.has(name) && String(before[name]) !== String(value),
  )
  const kept = { status: res.statusCode, headers }
  if (body === null) return kept
  return isText ? { ...kept, text: body } : { ...kept, bytes: Buffer.from(body).toString('base64') }
}

/** Responds with what was kept. */
export function replay({ status, headers, text, bytes }: KeptResponse, res: Response): Response {
  for (const [name, value] of headers) {
    if (name === 'vary') res.vary(...String(value).split(/, */))
    else res.setHeader(name, value)
  }
  res.setHeader('idempotent-replayed', 'true').status(status)
  if (bytes !== undefined) return res.bytes(Buffer.from(bytes, 'base64'))
  return text === undefined ? res.send() : res.text(text)
}
