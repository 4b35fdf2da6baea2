import { Buffer } from 'node:buffer'
import { basename } from 'node:path'
import { defined } from '../shared/values/json.ts'
import { MailHeaderError } from './errors.ts'
import type { MailAttachment, MailMessage } from './transport.ts'

/** A line break would begin another header, or the body; the other characters do not belong in a header. */
export const control = /[\p{Cc}\u2028\u2029]/u
/** RFC 5322, section 3.6.8. */
const nameOfHeader = /^[!-9;-~]{1,76}$/
/** RFC 5322, section 2.1.1, allows 998 characters for a line; a folded header may be longer. */
const longest = 10_000
const wide = /[!-~]{900}/

/** The headers that the builder's methods and the transporter write themselves. */
const taken: ReadonlySet<string> = new Set([
  ...['from', 'sender', 'to', 'cc', 'bcc', 'reply-to', 'subject', 'date', 'message-id', 'return-path', 'mime-version'],
  ...['content-type', 'content-transfer-encoding', 'content-disposition', 'content-id', 'dkim-signature', 'received'],
])

export function checkText(what: string, text: unknown): string {
  if (typeof text !== 'string') throw MailHeaderError(what, `takes text, not ${text === null ? 'null' : typeof text}`)
  if (text.length > longest) throw MailHeaderError(what, `is longer than ${longest} characters`)
  if (wide.test(text)) throw MailHeaderError(what, 'has a word that is too long for a line of an email')
  if (control.test(text)) throw MailHeaderError(what, 'has a control character, a line break for example')
  return text
}

/** Returns the name of an allowed header; its value must be a single line. */
export function checkHeader(name: string, value: unknown): string {
  if (!nameOfHeader.test(name)) throw MailHeaderError('the name of a header', 'takes letters, digits and "-"')
  if (taken.has(name.toLowerCase()))
    throw MailHeaderError(`the header "${name}"`, 'is set by the email itself: use its method, or leave it out')
  checkText(`the header "${name}"`, value)
  return name
}

const fields = ['filename', 'content', 'path', 'contentType', 'cid']

/** Copies the known members of an attachment, and no others that nodemailer would interpret. */
export function checkAttachment(given: MailAttachment): MailMessage['attachments'][number] {
  if (typeof given !== 'object' || given === null)
    throw MailHeaderError('an attachment', 'is { filename, content } or { path }')
  for (const [name, value] of Object.entries(given)) {
    if (!fields.includes(name))
      throw MailHeaderError(`the attachment's "${name}"`, `is unknown; the known ones are ${fields.join(', ')}`)
    if (name !== 'content' && value !== undefined) checkText(`the attachment's ${name}`, value)
  }
  const { content, path } = given
  if ((content === undefined) === (path === undefined))
    throw MailHeaderError('an attachment', 'has either content or path')
  if (content !== undefined && typeof content !== 'string' && !(content instanceof Uint8Array))
    throw MailHeaderError("the attachment's content", 'is text or bytes (Uint8Array)')
  // Nodemailer would also accept web addresses and data URLs here.
  if (path !== undefined && (path === '' || /^[a-z][a-z0-9+.-]+:/i.test(path)))
    throw MailHeaderError("the attachment's path", 'must be the path of a file, not a URL')
  const { filename = path && basename(path), contentType, cid } = given
  // Nodemailer accepts bytes only as a Buffer.
  const bytes = content instanceof Uint8Array ? Buffer.from(content) : content
  return defined({ filename, contentType, cid, path, content: bytes })
}
