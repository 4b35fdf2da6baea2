import type { StorageDisk } from 'framework'

export async function textOf(stream: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

export async function keysOf(disk: StorageDisk, prefix?: string): Promise<string[]> {
  const keys: string[] = []
  for await (const { key } of disk.list(prefix)) keys.push(key)
  return keys
}

export const badKeys: readonly (readonly [why: string, key: unknown])[] = [
  ['nothing', ''],
  ['no text', 42],
  ['missing', undefined],
  ['more than 1024 bytes', 'a'.repeat(1025)],
  ['more than 1024 bytes in UTF-8', 'ü'.repeat(513)],
  ['absolute', '/etc/passwd'],
  ['a dot segment', 'a/./b'],
  ['up', '../x'],
  ['up from within', 'a/../../x'],
  ['up at the end', 'a/..'],
  ['NUL', 'a\0b'],
  ['a line break', 'a\r\nb'],
  ['a backslash', 'a\\b'],
  ['up by backslashes', '..\\x'],
  ['an empty segment', 'a//b'],
  ['a slash at its end', 'a/'],
  ['the Unicode form NFD', 'u\u0308.txt'],
  ['half a surrogate pair', 'a\ud800'],
  ['a character that cannot stand in XML', 'a\uffff'],
]
