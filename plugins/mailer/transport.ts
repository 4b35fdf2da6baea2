import type { Buffer } from 'node:buffer'
import { stat } from 'node:fs/promises'
import { peer } from '../shared/environment/optional-package.ts'
import { kindOf } from '../shared/files/regular-file.ts'

/** One attachment: `content`, or the `path` of a file. */
export interface MailAttachment {
  /** The name that the recipient sees. Default: the last part of `path`. */
  readonly filename?: string
  /** The bytes, or a string that is sent as UTF-8. */
  readonly content?: string | Uint8Array
  /** A file on this machine, absolute or relative to the folder of the process. Never take it from input. */
  readonly path?: string
  /** The media type. Default: by the extension of the name. */
  readonly contentType?: string
  /** The id by which HTML refers to the attachment: `<img src="cid:logo">`. */
  readonly cid?: string
}

/** A finished email, as a transporter receives it. */
export interface MailMessage {
  /** The header `Message-ID` (RFC 5322 section 3.6.4), generated for this mail. */
  readonly messageId: string
  /** The sender: `name` is `''` without one, `address` is checked. */
  readonly from: { name: string; address: string }
  /** The recipients, each with `name` and `address`; the other lists have the same form. */
  readonly to: { name: string; address: string }[]
  /** Recipients of a copy, by `name` and `address`. */
  readonly cc: { name: string; address: string }[]
  /** Recipients of a copy that the others do not see, by `name` and `address`; they are in the envelope, but in no header. */
  readonly bcc: { name: string; address: string }[]
  /** Where replies go, by `name` and `address`; if empty, to the sender. */
  readonly replyTo: { name: string; address: string }[]
  /** The subject, rendered, in one line. */
  readonly subject: string
  /** The rendered HTML. */
  readonly html?: string
  /** The rendered plain text. */
  readonly text?: string
  /** Further headers by name, checked for line breaks. */
  readonly headers: { [name: string]: string }
  /** How urgent the email is; left out for an ordinary one. */
  readonly priority?: 'high' | 'normal' | 'low'
  /** The attachments; `content` that was a `Uint8Array` is a `Buffer`. */
  readonly attachments: (Omit<MailAttachment, 'content'> & { readonly content?: string | Buffer })[]
  /** The addresses `from` and `to` that the server receives, which headers never change. */
  readonly envelope: { from: string; to: string[] }
  /** Whether the transporter must not read files: true unless an attachment has a `path`. */
  readonly disableFileAccess: boolean
  /** The transporter must not fetch web addresses in an email: input could name any server in the internal network. */
  readonly disableUrlAccess: true
  /** Aborts when the time for the attempt is over. */
  readonly signal?: AbortSignal
}

/** An object that sends emails: a transporter of nodemailer, for example, or `memoryTransport()`. */
export interface MailTransporter {
  /** Sends one email; resolves when it has been accepted. */
  sendMail(mail: MailMessage): Promise<unknown>
  /** Rejects when the server cannot be reached, or refuses the credentials. */
  verify?(): Promise<unknown>
  /** Closes connections that are kept open. */
  close?(): void
}

/** Options of nodemailer for SMTP. */
export interface SmtpOptions {
  /** The name or the address of the server. */
  readonly host?: string
  /** The port of the server. Default: 465 with `secure`, else 587. */
  readonly port?: number
  /** Whether TLS begins with the first byte, as on port 465; otherwise STARTTLS is used if the server offers it. */
  readonly secure?: boolean
  /** Refuses to send over a connection without TLS. */
  readonly requireTLS?: boolean
  /** The credentials: `user` and `pass`, or another `type` with its own options. Default: none are sent. */
  readonly auth?:
    | { readonly user: string; readonly pass: string }
    | { readonly type: string; readonly [option: string]: unknown }
  /** Keeps connections open from one email to the next. */
  readonly pool?: boolean
  readonly [option: string]: unknown
}

export const isTransporter = (given: unknown): given is MailTransporter =>
  typeof (given as { sendMail?: unknown } | null)?.sendMail === 'function'

/** Creates the transporter from an address or options, with the package `nodemailer`. */
export async function openTransport(given: string | SmtpOptions, timeout: number): Promise<MailTransporter> {
  const { createTransport } = await peer('nodemailer', () => import('nodemailer'), 'the mailer')
  // Nodemailer's own timeouts would let a silent server delay an email for minutes.
  const times = { connectionTimeout: timeout, greetingTimeout: timeout, socketTimeout: timeout, dnsTimeout: timeout }
  const options = typeof given === 'string' ? { url: given } : given
  const made = createTransport({ ...times, ...options })
  const { host } = (made as { transporter?: { options?: { host?: unknown } } }).transporter?.options ?? {}
  // Nodemailer does not know the service, and would use this machine.
  if (options.service !== undefined && host === undefined)
    throw new Error(`nodemailer knows no service "${options.service}"`)
  return made as unknown as MailTransporter
}

/**
 * Why the file of an attachment cannot be sent. The transporter would report a missing file, but nodemailer opens files itself, and
 * would wait for a named pipe for ever.
 */
export async function whyNoFile(attachments: MailMessage['attachments']): Promise<string | undefined> {
  for (const { path } of attachments) {
    if (path === undefined) continue
    const found = await stat(path).catch(() => undefined)
    if (found !== undefined && !found.isFile()) return `${path} is ${kindOf(found)}, not a file`
  }
  return undefined
}
