const multipart = /^[\t ]*multipart\/form-data[\t ]*(?:;|$)/i
const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
// RFC 2046 section 5.1.1: 1 to 70 of these characters, with no space at the end. Unquoted, clients use more of them than a token
// allows, but no semicolon, comma or space.
const quotedBoundary = '"([0-9A-Za-z\'()+_,./:=? -]{0,69}[0-9A-Za-z\'()+_,./:=?-])"'
const bareBoundary = "([0-9A-Za-z'()+_./:=?-]{1,70})"
const parameter = new RegExp(
  `[\\t ]*;[\\t ]*(?:boundary=(?:${quotedBoundary}|${bareBoundary})|${token}=(?:${token}|"[^"\\\\\\x00-\\x1f]*"))(?=[\\t ]*(?:;|$))`,
  'iy',
)

/** The form of a content type: no multipart form, a form with its boundary, or a form that cannot be parsed. */
export type FormType = { readonly kind: 'none' } | { readonly kind: 'form'; readonly boundary: string } | Malformed
interface Malformed {
  readonly kind: 'malformed'
}

const none = { kind: 'none' } as const
const malformed = { kind: 'malformed' } as const

/** Parses a content type strictly (RFC 9110 section 8.3.1): one that begins as a multipart form must have exactly one boundary. */
export function formTypeOf(header: string | undefined): FormType {
  if (header === undefined) return none
  const start = multipart.exec(header)
  if (start === null) return none
  let at = header.indexOf(';')
  if (at === -1) return malformed
  let boundary: string | undefined
  while (at < header.length) {
    parameter.lastIndex = at
    const found = parameter.exec(header)
    if (found === null) return /^[\t ;]*$/.test(header.slice(at)) && boundary !== undefined ? form(boundary) : malformed
    const [whole, quoted, bare] = found
    const value = quoted ?? bare
    // With two boundaries, this parser and another reader could each use a different one. A parameter named `boundary` that did not
    // match as a boundary has an invalid value.
    if (value !== undefined && boundary !== undefined) return malformed
    if (value === undefined && /^[\t ;]*boundary=/i.test(whole)) return malformed
    boundary = value ?? boundary
    at += whole.length
  }
  return boundary === undefined ? malformed : form(boundary)
}

function form(boundary: string): FormType {
  return { kind: 'form', boundary }
}
