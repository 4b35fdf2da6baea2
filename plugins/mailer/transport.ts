import type { Buffer } from 'node:buffer'
import { stat } from 'node:fs/promises'
import { kindOf } from '../../kernel/index.ts'
import { peer } from '../toolkit/peer.ts'

/** One attachment; `content`, or `path` of a file. */
export interface MailAttachment {
  readonly filename?: string
  readonly content?: string | Uint8Array
  /** A file of this machine, relative to the folder of the process or absolute. Never take it from input. */
  readonly path?: string
  /** Default: by the ending of the name. */
  readonly contentType?: string
  /** HTML refers to it by this id: `<img src="cid:logo">`. */
  readonly cid?: string
}

/** A finished mail, as a transporter receives it. */
export interface MailMessage {
  readonly messageId: string
  readonly from: { name: string; address: string }
  readonly to: { name: string; address: string }[]
  readonly cc: { name: string; address: string }[]
  readonly bcc: { name: string; address: string }[]
  readonly replyTo: { name: string; address: string }[]
  readonly subject: string
  readonly html?: string
  readonly text?: string
  readonly headers: { [name: string]: string }
  readonly priority?: 'high' | 'normal' | 'low'
  readonly attachments: (Omit<MailAttachment, 'content'> & { readonly content?: string | Buffer })[]
  /** The addresses for the server, which headers never change. */
  readonly envelope: { from: string; to: string[] }
  readonly disableFileAccess: boolean
  readonly disableUrlAccess: true
  /** Aborts when the time for the attempt is over. */
  readonly signal?: AbortSignal
}

/** Sends mails: a transporter of nodemailer is one, and so is `memoryTransport()`. */
export interface MailTransporter {
  sendMail(mail: MailMessage): Promise<unknown>
  verify?(): Promise<unknown>
  close?(): void
}

/** Options of nodemailer for SMTP. */
export interface SmtpOptions {
  readonly host?: string
  readonly port?: number
  /** TLS from the first byte, port 465; else STARTTLS where the server offers it. */
  readonly secure?: boolean
  /** Refuses to send without TLS. */
  readonly requireTLS?: boolean
  readonly auth?:
    | { readonly user: string; readonly pass: string }
    | { readonly type: string; readonly [option: string]: unknown }
  /** Keeps connections open. */
  readonly pool?: boolean
  readonly [option: string]: unknown
}

export function isTransporter(given: unknown): given is MailTransporter {
  return typeof (given as { sendMail?: unknown } | null)?.sendMail === 'function'
}

/** Makes the transporter from an address or options, with the package `nodemailer`. */
export async function openTransport(given: string | SmtpOptions, timeout: number): Promise<MailTransporter> {
  const { createTransport } = await peer('nodemailer', () => import('nodemailer'), 'the mailer')
  // Its own would let a silent server delay a mail for minutes.
  const times = { connectionTimeout: timeout, greetingTimeout: timeout, socketTimeout: timeout, dnsTimeout: timeout }
  const options = typeof given === 'string' ? { url: given } : given
  const made = createTransport({ ...times, ...options })
  const { host } = (made as { transporter?: { options?: { host?: unknown } } }).transporter?.options ?? {}
  // It would use this machine.
  if (options.service !== undefined && host === undefined)
    throw new Error(`nodemailer knows no service "${options.service}"`)
  return made as unknown as MailTransporter
}

/**
 * Why the file of an attachment cannot be sent. The transporter reports a missing one; but nodemailer opens files itself, and
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
