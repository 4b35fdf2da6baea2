import { domainToUnicode } from 'node:url'
import { BadRequestError, type FrameworkError } from '../../support/errors.ts'

// A DNS name (labels of letters, digits, `-` and `_`, with an optional dot after the last one) or an IPv6 address in
// brackets, and an optional port (RFC 9110 section 7.2). Deliberately stricter than the grammar of a reg-name: userinfo, blanks,
// slashes and the comma of two joined headers would make a link lead elsewhere, and runtimes read escapes and sub-delims
// differently.
const form = /^(?:([A-Za-z0-9_-]{1,63}(?:\.[A-Za-z0-9_-]{1,63})*\.?)|\[[0-9A-Fa-f:.]{2,45}\])(?::(\d{0,5}))?$/
const longestName = 254

/** The URL standard reads a host that ends in a number as an IPv4 address, even in octal and hexadecimal. */
const numeric = /(?:^|\.)(?:\d+|0[Xx][0-9A-Fa-f]*)\.?$/
const ipv4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/

let lastValid: string | undefined

/**
 * Whether a string is one host and nothing else, so that a URL can be made from it: the one rule for the Host header, the authority
 * of an absolute target and the host that a proxy reports.
 *
 * The rule is the same on every runtime. The runtime's own parser checks IPv6, whose grammar is not worth implementing twice,
 * and punycode, so that a URL can always be made from the host.
 */
export function isValidHost(host: string): boolean {
  if (host === lastValid) return true
  if (!fits(host)) return false
  lastValid = host
  return true
}

/** Why a request is refused for its host, if it is. */
export function hostMistake(host: string | undefined, isOptional: boolean): FrameworkError | undefined {
  if (host === undefined) return isOptional ? undefined : BadRequestError('the Host header is missing')
  if (isValidHost(host)) return undefined
  return BadRequestError('the Host header or the authority of the request target is not a single host')
}

function fits(host: string): boolean {
  const found = form.exec(host)
  if (found === null) return false
  const [, name, port = ''] = found
  if (Number(port) > 65_535) return false
  if (name === undefined) return isUrl(host)
  if (name.length > longestName) return false
  if (numeric.test(name)) return ipv4.test(name)
  return !/xn--/i.test(name) || (name.split('.').every(isAlphabetic) && isUrl(host))
}

/** Not allowed in a name: controls, blanks, code points without a character, a leading mark. Joiners are between letters in some languages. */
const unfit = /(?!\u200c|\u200d)\p{C}|\p{Z}|^\p{M}|^[\u200c\u200d]|[\u200c\u200d]$/u

/**
 * Whether this is a plain ASCII label, or punycode for a name in another alphabet, in its one spelling. The URL parser of Node.js accepts any label
 * with `xn--` since 24, and the reader of domains of Deno does: both are asked, and each runtime refuses different ones.
 */
function isAlphabetic(label: string): boolean {
  if (!/^xn--/i.test(label)) return true
  const text = domainToUnicode(label.toLowerCase())
  return /[^\0-\x7f]/.test(text) && !unfit.test(text) && text.normalize('NFKC').toLowerCase() === text
}

const isUrl = (host: string) => URL.canParse(`http://${host}/`)

/** An address that a browser on this machine can open. */
export function urlOf(host: string, port: number, secure: boolean): string {
  const local = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host
  return `${secure ? 'https' : 'http'}://${local}:${port}`
}
