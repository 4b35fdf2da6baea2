const maxBytes = 255
/** A longer ending is not an extension, but part of the name. */
const maxExtension = 32

// biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are removed
const invisible = /[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/**
 * The client's name for a file, reduced to a base name: no folder, no drive, no control character (a NUL would end the name
 * for the system, a change of text direction would show `exe.txt` for `txt.exe`), at most 255 bytes, and never empty.
 *
 * @example
 * baseName('C:\\temp\\..\\a.txt') // 'a.txt'
 */
export function baseName(given: string): string {
  const last = Math.max(given.lastIndexOf('/'), given.lastIndexOf('\\'))
  const name = given
    .slice(last + 1)
    .replace(invisible, '')
    .trim()
  return name === '' || name === '.' || name === '..' ? 'unnamed' : shorten(name)
}

/** Shortens a name between characters, and keeps the extension. */
function shorten(name: string): string {
  if (Buffer.byteLength(name) <= maxBytes) return name
  const dot = name.lastIndexOf('.')
  const extension = dot > 0 && Buffer.byteLength(name.slice(dot)) <= maxExtension ? name.slice(dot) : ''
  const bytes = Buffer.from(name.slice(0, name.length - extension.length))
  let end = maxBytes - Buffer.byteLength(extension)
  // The following bytes of a character begin with the bits 10.
  while ((bytes[end]! & 0xc0) === 0x80) end--
  return bytes.toString('utf8', 0, end) + extension
}
