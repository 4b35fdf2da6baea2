import { createHash } from 'node:crypto'

/** A key of the application, marked so that it never equals an address, and shortened: clients may choose its parts. */
export function ownKey(key: string): string {
  return key.length <= 64 ? `=${key}` : `#${createHash('sha256').update(key).digest('base64')}`
}
