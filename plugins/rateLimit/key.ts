import { createHash } from 'node:crypto'

/** Marks a key of the application, so that it never equals an address, and shortens it, since clients may choose parts of it. */
export function ownKey(key: string): string {
  return key.length <= 64 ? `=${key}` : `#${createHash('sha256').update(key).digest('base64')}`
}
