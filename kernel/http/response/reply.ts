import type { Reply, StreamBody, TakeOver } from '../raw.ts'
import { disposeStream } from '../streams.ts'
import { defaultTypes } from './headers.ts'
import { type KernelResponse, utf8Length } from './response-buffer.ts'

/** The heads of whole bodies whose length the runtime declares. */
const plainHeads = {
  json: Object.freeze(['content-type', defaultTypes.json]),
  text: Object.freeze(['content-type', defaultTypes.text]),
  bytes: Object.freeze(['content-type', defaultTypes.bytes]),
}

/** Statuses that have no body by definition (RFC 9110 section 6.4.1). */
export function isBodiless(status: number): boolean {
  return status === 204 || status === 205 || status === 304
}

/** Logs a body that broke off. The line for the response itself has already been written, with the status in its head. */
function reportBroken({ method, path, route, log }: KernelResponse['request'], err: unknown): void {
  log.warn({ err, method, path, route }, 'a streamed response broke off')
}

/**
 * Encodes a response for the runtime. HEAD drops the body and keeps its length.
 *
 * @throws when the payload cannot be serialised; the caller treats that as any other failure.
 */
export function toReply(res: KernelResponse, closing: boolean): Reply {
  const { method, raw } = res.request
  const head = method === 'HEAD'
  const measured = head || raw.countsBody !== true
  const { statusCode: status, headersIfAny: bag } = res
  if (res.kind === 'takeOver')
    return { status: 101, headers: bag?.flatten() ?? [], body: null, takeOver: res.payload as TakeOver }
  const isEmpty = res.kind === 'none' || res.kind === 'empty'
  const body =
    res.kind === 'json' ? res.writeJson() : isEmpty ? null : (res.payload as string | Uint8Array | StreamBody)
  const type = isEmpty ? undefined : defaultTypes[res.kind as keyof typeof defaultTypes]
  let length = isEmpty ? 0 : -1
  if (typeof body === 'string') length = measured ? utf8Length(body) : body.length
  else if (res.kind === 'bytes') length = (body as Uint8Array).byteLength
  // The form of nearly every small response: a body, and no header that the application set.
  if (bag === undefined && !head && !closing && length > 0 && !isBodiless(status)) {
    if (!measured) return { status, headers: plainHeads[res.kind as keyof typeof plainHeads], body }
    return { status, headers: ['content-type', type!, 'content-length', String(length)], body }
  }
  const headers: string[] = bag === undefined ? [] : bag.flatten()
  let typed = false
  let declared = -1
  let connected = false
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i]
    if (name === 'content-type') typed = true
    else if (name === 'content-length') declared = i
    else if (name === 'connection') connected = true
  }
  // A length that is not a number would be sent unchanged, and readers would interpret it differently.
  if (declared !== -1 && !/^\d+$/.test(headers[declared + 1]!)) {
    headers.splice(declared, 2)
    declared = -1
  }
  if (length === -1 && (head || isBodiless(status))) disposeStream(body as StreamBody)
  if (isBodiless(status)) {
    if (declared !== -1 && status !== 304) headers.splice(declared, 2)
    if (closing && !connected) headers.push('connection', 'close')
    return { status, headers, body: null }
  }
  // A length that the application set is used only for a stream and for HEAD, where the body does not show it.
  const believed = length === -1 || (head && res.kind === 'empty')
  const counted = !measured && length > 0
  if (declared !== -1 && !believed) {
    if (counted) headers.splice(declared, 2)
    else headers[declared + 1] = String(length)
  }
  if (type !== undefined && !typed) headers.push('content-type', type)
  if (declared === -1 && length !== -1 && !counted) headers.push('content-length', String(length))
  if (closing && !connected) headers.push('connection', 'close')
  if (length === -1 && !head) return { status, headers, body, brokeOff: (error) => reportBroken(res.request, error) }
  return { status, headers, body: head || length === 0 ? null : body }
}
