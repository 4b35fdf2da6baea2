import { createHash } from 'node:crypto'

// The ids that publishers choose, in the form in which engines accept them.

/** BullMQ uses ":" as a separator in Redis keys, and numbers jobs without an id. */
export const bullmqId = (value: string) =>
  `id-${value.replace(/[%:]/g, (char) => `%${char.charCodeAt(0).toString(16)}`)}`

/** pg-boss accepts UUIDs only: the same id in the same queue is the same UUID (RFC 9562, section 5.5, without a name space). */
export function uuidOf(queue: string, id: string): string {
  const bytes = createHash('sha1').update(`${queue}\0${id}`).digest().subarray(0, 16)
  bytes[6] = (bytes[6]! & 0x0f) | 0x50
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}
