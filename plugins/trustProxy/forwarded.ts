/** One element of a `Forwarded` header: the report of one proxy. */
export interface ForwardedElement {
  for?: string
  proto?: string
  host?: string
}

/** Longer than every head that a server accepts by default; such a header is ignored. */
const maxLength = 16_384

// One pair of an element (RFC 7239 section 4): a token, and a token or a quoted string. Both alternatives of the value
// begin differently and no part can match an empty string, so it is linear.
const pair = /[ \t]*([!#$%&'*+\-.^_`|~0-9A-Za-z]+)=(?:([^\s",;]+)|"((?:[^"\\]|\\.)*)")[ \t]*(?=([;,]|$))/y

/**
 * The elements of a `Forwarded` header, the nearest proxy's first. A malformed element is empty, and so are those
 * before it: they cannot be distinguished from a client's forgery.
 */
export function parseForwarded(header: string | undefined): ForwardedElement[] {
  if (header === undefined || header.length > maxLength) return []
  let elements: ForwardedElement[] = [{}]
  let at = 0
  while (at < header.length) {
    pair.lastIndex = at
    const found = pair.exec(header)
    if (found === null || !takePair(found, elements[0]!)) {
      // The additions of trusted proxies to a client's garbage still count: parsing continues after the next comma.
      elements = [{}, {}]
      const comma = header.indexOf(',', at)
      if (comma === -1) return [{}]
      at = comma + 1
      continue
    }
    if (found[4] === ',') elements.unshift({})
    // After the separator; at the end there is none.
    at += found[0].length + 1
  }
  return elements
}

/** False for a name that the element has already: this is forbidden, and it is unknown which one a proxy has checked. */
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
