/** One element of a `Forwarded` header: the report of one proxy. */
export interface ForwardedElement {
  for?: string
  proto?: string
  host?: string
}

/** Longer than any request head that a server accepts by default; a longer header is ignored. */
const maxLength = 16_384

// One pair of an element (RFC 7239 section 4): a token, and a token or a quoted string. The two alternatives of the value
// begin differently and no part can match an empty string, so matching takes linear time.
const pair = /[ \t]*([!#$%&'*+\-.^_`|~0-9A-Za-z]+)=(?:([^\s",;]+)|"((?:[^"\\]|\\.)*)")[ \t]*(?=([;,]|$))/y

/**
 * The elements of a `Forwarded` header, the nearest proxy's first. A malformed element is empty, and so are the elements
 * before it, which cannot be distinguished from a client's forgery.
 */
export function parseForwarded(header: string | undefined): ForwardedElement[] {
  if (header === undefined || header.length > maxLength) return []
  let elements: ForwardedElement[] = [{}]
  let at = 0
  while (at < header.length) {
    pair.lastIndex = at
    const found = pair.exec(header)
    if (found === null || !takePair(found, elements[0]!)) {
      // What trusted proxies append to a client's garbage still counts: parsing continues after the next comma.
      elements = [{}, {}]
      const comma = header.indexOf(',', at)
      if (comma === -1) return [{}]
      at = comma + 1
      continue
    }
    if (found[4] === ',') elements.unshift({})
    // Moves past the separator, which the last pair does not have.
    at += found[0].length + 1
  }
  return elements
}

/** Adds a pair; returns false if the element already has the name: this is forbidden, and a proxy may have checked either of the two. */
function takePair(
  [, name = '', plain, quoted = '']: readonly (string | undefined)[],
  element: ForwardedElement,
): boolean {
  const key = name.toLowerCase()
  if (key !== 'for' && key !== 'proto' && key !== 'host') return true
  if (element[key] !== undefined) return false
  element[key] = plain ?? quoted.replace(/\\(.)/g, '$1')
  return true
}
