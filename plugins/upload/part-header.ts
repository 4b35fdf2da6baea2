import { BadRequestError, UnsupportedMediaTypeError } from '../../kernel/index.ts'
import { utf8Text } from '../shared/http/body-parser.ts'
import { mediaTypeOf } from '../shared/http/media-type.ts'
import { safely } from '../shared/values/safely.ts'

/** The header of one part as the parser returns it: names in lower case, one character per byte. */
export type RawHeader = { readonly [name: string]: readonly string[] | undefined }

/** The data in the header of one part. */
export interface PartHeader {
  readonly field: string
  /** A base name; `undefined` for a field. */
  readonly filename: string | undefined
  /** Whether the client named no file, which browsers send for an empty file input. */
  readonly unnamed: boolean
  /** The media type that the client claims, without parameters. */
  readonly mimeType: string
}

// Each alternative begins with a different character, so that a name of any length is read only once (multiparty's pattern
// took quadratic time here).
const parameter = /[\t ]*;[\t ]*([!#$%&'*+.^_`|~0-9A-Za-z-]+)[\t ]*=[\t ]*(?:"((?:[^"\\]|\\.)*)"|([^;"\t ]+))/y

/**
 * Reads the header of a part (RFC 7578 section 4.2).
 *
 * @throws BadRequestError for a part without a name or with an ambiguous disposition;
 * UnsupportedMediaTypeError for a transfer encoding or a charset.
 */
export function readPartHeader(header: RawHeader): PartHeader {
  const parameters = dispositionOf(single(header, 'content-disposition'))
  const type = single(header, 'content-type')?.toLowerCase()
  refuseEncodings(header, type)
  const field = parameters.get('name')
  if (field === undefined || field === '') throw BadRequestError('a part of the form has no name')
  const extended = parameters.get('filename*')
  const given = extended === undefined ? parameters.get('filename') : decodeExtended(extended)
  if (given === undefined) {
    if (type?.trimStart().startsWith('multipart/')) throw BadRequestError('a part of the form is itself a form')
    const charset = /;[\t ]*charset="?([^";\t ]*)/.exec(type ?? '')?.[1]
    if (charset !== undefined && charset !== 'utf-8' && charset !== 'us-ascii') {
      throw UnsupportedMediaTypeError('fields must be in UTF-8')
    }
  }
  return {
    field: decodeText(field),
    filename: given === undefined ? undefined : baseName(extended === undefined ? decodeText(given) : given),
    unnamed: given === '',
    mimeType: mediaTypeOf(type) || 'application/octet-stream',
  }
}

/** The only value of a header: with two, this parser and another reader could each use a different one. */
function single(header: RawHeader, name: string): string | undefined {
  const values = header[name]
  if (values !== undefined && values.length > 1) throw BadRequestError(`a part of the form has two headers ${name}`)
  return values?.[0]
}

/** Refuses transfer encodings, which RFC 7578 section 4.7 deprecates: stored unchanged, the file would have the wrong content. */
function refuseEncodings(header: RawHeader, type: string | undefined): void {
  const encoding = single(header, 'content-transfer-encoding')?.trim().toLowerCase()
  if (encoding !== undefined && !['7bit', '8bit', 'binary'].includes(encoding)) {
    throw UnsupportedMediaTypeError('a part with a content-transfer-encoding is not supported')
  }
  if (type !== undefined && type.length > 1024) throw BadRequestError('the content type of a part is too long')
}

function dispositionOf(disposition: string | undefined): Map<string, string> {
  const start = /^[\t ]*form-data[\t ]*(?=;|$)/i.exec(disposition ?? '')
  if (disposition === undefined || start === null)
    throw BadRequestError('a part has no "content-disposition: form-data"')
  const parameters = new Map<string, string>()
  let at = start[0].length
  while (at < disposition.length) {
    parameter.lastIndex = at
    const found = parameter.exec(disposition)
    if (found === null) {
      if (/^[\t ]*;?[\t ]*$/.test(disposition.slice(at))) break
      throw BadRequestError('the content-disposition of a part is malformed')
    }
    const [whole, name, quoted, bare] = found
    const key = name!.toLowerCase()
    if (parameters.has(key)) throw BadRequestError(`a part of the form has two parameters ${key}`)
    // Only quotes and backslashes can be escaped: `C:\new` contains no line break.
    parameters.set(key, bare ?? quoted!.replace(/\\(["\\])/g, '$1'))
    at += whole.length
  }
  return parameters
}

/** Decodes UTF-8 with the three escapes that browsers write (the «multipart/form-data encoding algorithm» of the HTML standard). */
function decodeText(bytes: string): string {
  const text = utf8Text(Buffer.from(bytes, 'latin1'))
  if (text === undefined) throw BadRequestError('a name in the form is not UTF-8')
  return text.replace(/%0D|%0A|%22/gi, (escaped) => decodeURIComponent(escaped))
}

/** Decodes values such as `UTF-8''na%C3%AFve.txt` (RFC 8187). */
function decodeExtended(value: string): string {
  const encoded = /^utf-8'[^']*'(.*)$/i.exec(value)?.[1]
  const decoded = encoded === undefined ? undefined : safely(() => decodeURIComponent(encoded))
  if (decoded !== undefined) return decoded
  throw BadRequestError('a filename* in the form is not percent-encoded UTF-8')
}

const maxBytes = 255
/** A longer ending is not an extension, but part of the name. */
const maxExtension = 32

// biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are removed
const invisible = /[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/**
 * The client's name for a file, reduced to a base name: no folder, no drive, no control character (a NUL would end the name
 * for the system, a change of text direction would show `exe.txt` for `txt.exe`), at most 255 bytes, and never empty.
 */
function baseName(given: string): string {
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
