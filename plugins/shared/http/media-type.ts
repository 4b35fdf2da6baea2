import { parse } from 'content-type'

const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
const quoted = '"(?:[\\t \\x21\\x23-\\x5b\\x5d-\\x7e\\x80-\\xff]|\\\\[\\t \\x21-\\x7e\\x80-\\xff])*"'
// The package `content-type` is lenient: five times, other frameworks accepted trailing garbage as JSON. A blank can match only
// one part of this expression, so it runs in linear time.
const grammar = new RegExp(`^[\\t ]*${token}/${token}(?:[\\t ]*;(?:[\\t ]*${token}=(?:${token}|${quoted}))?)*[\\t ]*$`)
const typeAlone = new RegExp(`^${token}/${token}$`)
const charsets = /;[\t ]*charset=/gi

/** The media type of a content type in lower case, whatever parameters follow it; empty if there is none or it is malformed. */
export function mediaTypeOf(header: string | undefined): string {
  const { type } = parse(header ?? '', { parameters: false })
  return typeAlone.test(type) ? type : ''
}

/** What a content type says about a body: `none`, another format; `read`, this format in UTF-8; `charset`, in an unsupported charset. */
export type BodyType = 'none' | 'read' | 'charset'

/**
 * Reads a content type exactly (RFC 9110 section 8.3.1), ignoring case; a malformed one is of no format. `alone`: the format has
 * no parameter other than a charset.
 */
export function bodyTypeOf(header: string | undefined, types: RegExp, alone = false): BodyType {
  if (header === undefined || !grammar.test(header)) return 'none'
  const { type, parameters } = parse(header)
  if (!types.test(type) || (alone && Object.keys(parameters).some((name) => name !== 'charset'))) return 'none'
  const { charset } = parameters
  if (charset === undefined) return 'read'
  // With two charsets, this parser and another reader could each use a different one.
  const several = (header.match(charsets)?.length ?? 0) > 1
  return charset.toLowerCase() === 'utf-8' && !several ? 'read' : 'charset'
}
