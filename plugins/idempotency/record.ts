import type { Response } from '../../kernel/index.ts'
import { type KeptHeaders, keptHeaders, replayHeaders } from '../shared/http/kept-headers.ts'

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
  readonly headers: KeptHeaders
  readonly text?: string
  /** Bytes, in base64. */
  readonly bytes?: string
}

/** What is kept of a response. */
export function keptOf(res: Response, before: Headers, maxSize: number): KeptResponse | undefined {
  const body = res.encode()
  const isText = typeof body === 'string'
  if (body !== null && !isText && !(body instanceof Uint8Array)) return undefined
  if (body !== null && Buffer.byteLength(body) > maxSize) return undefined
  // Only the first client may receive a cookie.
  const headers = keptHeaders(res, before).filter(([name]) => name !== 'set-cookie')
  const kept = { status: res.statusCode, headers }
  if (body === null) return kept
  return isText ? { ...kept, text: body } : { ...kept, bytes: Buffer.from(body).toString('base64') }
}

/** Responds with what was kept. */
export function replay({ status, headers, text, bytes }: KeptResponse, res: Response): Response {
  replayHeaders(headers, res)
  res.setHeader('idempotent-replayed', 'true').status(status)
  if (bytes !== undefined) return res.bytes(Buffer.from(bytes, 'base64'))
  return text === undefined ? res.send() : res.text(text)
}
