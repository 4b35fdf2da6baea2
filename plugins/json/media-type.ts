import { parse } from 'content-type'

const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
const quoted = '"(?:[\\t \\x21\\x23-\\x5b\\x5d-\\x7e\\x80-\\xff]|\\\\[\\t \\x21-\\x7e\\x80-\\xff])*"'
// The package `content-type` is lenient: five times, other frameworks accepted trailing garbage as JSON. A blank can match only
// one part of this expression, so it runs in linear time.
const grammar = new RegExp(`^[\\t ]*${token}/${token}(?:[\\t ]*;(?:[\\t ]*${token}=(?:${token}|${quoted}))?)*[\\t ]*$`)
const jsonType = new RegExp(`^application/(?:json|${token}\\+json)$`)
const charsets = /;[\t ]*charset=/gi

/** What a content type says about a body: `none`, not JSON; `read`, JSON in UTF-8; `charset`, JSON in an unsupported charset. */
export type JsonType = 'none' | 'read' | 'charset'

/**
 * Reads a content type exactly (RFC 9110 section 8.3.1), ignoring case: `application/json` and `application/*+json`,
 * with any well-formed parameters. A malformed one is not JSON.
 */
export function jsonTypeOf(header: string | undefined): JsonType {
  // The values that nearly every client sends; the grammar takes 0.7 µs.
  if (header === 'application/json' || header === 'application/json; charset=utf-8') return 'read'
  if (header === undefined || !grammar.test(header)) return 'none'
  const { type, parameters } = parse(header)
  if (!jsonType.test(type)) return 'none'
  const { charset } = parameters
  if (charset === undefined) return 'read'
  // With two charsets, this parser and another reader could each use a different one.
  const several = (header.match(charsets)?.length ?? 0) > 1
  return charset.toLowerCase() === 'utf-8' && !several ? 'read' : 'charset'
}
