import { createHash } from 'node:crypto'

/** A key of the application's, marked so that it is never an address, and short: clients may choose what it is made of. */
export function ownKey(key: string): string {
  return key.length <= 64 ? `=${key}` : `#${createHash('sha256').update(key).digest('base64')}`
}
