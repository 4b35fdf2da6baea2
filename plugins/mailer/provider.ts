import { Buffer } from 'node:buffer'
import { inspect } from 'node:util'
import { OptionError, systemClock, Trace, type TraceOutcome, within } from '../../kernel/index.ts'
import { unlessAborted } from '../shared/values/promises.ts'
import { safely } from '../shared/values/safely.ts'
import { Call, Running } from '../shared/work/running.ts'
import { MailSendError, reasonOf } from './errors.ts'
import { MailBuilder } from './message.ts'
import type { ProviderSettings } from './options.ts'
import { isTransporter, type MailMessage, type MailTransporter, openTransport, whyNoFile } from './transport.ts'

/** Builds one email; may be async. */
export type MailCallback = (mail: MailBuilder) => unknown

/** An email that is passed to its transport. */
export interface MailSendTrace extends TraceOutcome {
  /** The server whose work it is; `undefined` in a script. */
  readonly server: object | undefined
  /** The name of the provider. */
  readonly provider: string
  /** The finished email; it contains addresses and content that do not belong in logs. */
  readonly mail: MailMessage
}

const sendTrace = new Trace<MailSendTrace>('mail.send')

/** The outcome of sending an email. */
export interface MailReceipt {
  /** The `Message-ID`, by which the email can be found in server logs. */
  readonly id: string
  /** Addresses that the server accepted. */
  readonly accepted: readonly string[]
  /** Addresses that the server refused, although it accepted others. */
  readonly rejected: readonly string[]
}

function textsOf(list: unknown): string[] | undefined {
  if (!Array.isArray(list)) return undefined
  return list.map((one: unknown) => (typeof one === 'string' ? one : String((one as { address?: unknown })?.address)))
}

/** A provider in use: its transporter is created for the first mail. */
export class OpenProvider {
  readonly name: string
  /** The server whose emails these are; a script has none. */
  server: object | undefined
  readonly #given: ProviderSettings
  readonly #timeout: number
  readonly #secrets: readonly string[]
  /** The calls of the transporter in progress. */
  readonly #running = new Running()
  #aborted: Error | undefined
  #transporter: Promise<MailTransporter> | undefined

  constructor(name: string, given: ProviderSettings, timeout: number) {
    this.name = name
    this.#given = given
    this.#timeout = timeout
    this.#secrets = secretsOf(given.transporter)
  }

  async compose(callback: MailCallback): Promise<MailMessage> {
    if (typeof callback !== 'function') throw OptionError('mail', callback, 'a function (mail) => mail.to("…")')
    const mail = new MailBuilder()
    await callback(mail)
    return mail.finish(this.#given.from, this.#given.templateAdapter)
  }

  send(mail: MailMessage): Promise<MailReceipt> {
    return sendTrace.run(
      () => ({ server: this.server, provider: this.name, mail }),
      () => this.#send(mail),
    )
  }

  async #send(mail: MailMessage): Promise<MailReceipt> {
    const info = await this.#within('did not accept the email', async (transporter, signal) => {
      // Checked once more, because the email may have waited in the queue.
      const why = await whyNoFile(mail.attachments)
      if (why !== undefined) throw new Error(why)
      return transporter.sendMail({ ...mail, signal })
    })
    const { accepted, rejected } = (info ?? {}) as { accepted?: unknown; rejected?: unknown }
    return {
      id: mail.messageId,
      accepted: textsOf(accepted) ?? mail.envelope.to,
      rejected: textsOf(rejected) ?? [],
    }
  }

  async verify(): Promise<true> {
    await this.#within('is not usable', async (transporter) => transporter.verify?.())
    return true
  }

  /** Aborts the sending in progress, and any later one. */
  abort(reason: Error): void {
    this.#aborted = reason
    this.#running.abort(reason)
  }

  /** Closes a transporter that was created here; one that was passed in stays open. */
  async close(): Promise<void> {
    const transporter = await this.#transporter?.catch(() => undefined)
    if (!isTransporter(this.#given.transporter)) transporter?.close?.()
  }

  async open(): Promise<MailTransporter> {
    const { transporter } = this.#given
    if (isTransporter(transporter)) return transporter
    this.#transporter ??= openTransport(transporter, this.#timeout)
    try {
      return await this.#transporter
    } catch (error) {
      // A missing package has an error of its own.
      if ((error as { code?: unknown })?.code === 'PeerMissingError') throw error
      throw this.#failure('cannot be made', error)
    }
  }

  /** Rejects in time, whatever the transporter does: one that ignores the signal is abandoned. */
  async #within<Result>(
    failed: string,
    run: (transporter: MailTransporter, signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    const transporter = await this.open()
    if (this.#aborted !== undefined) throw this.#failure(failed, this.#aborted)
    const call = new Call(this.#running)
    const { signal } = call
    try {
      const sent = unlessAborted(run(transporter, signal), signal, (): never => {
        throw signal.reason
      })
      const late = () => {
        call.abort(new Error(`no response within ${this.#timeout} ms`))
        return sent
      }
      return await within(sent, this.#timeout, late, systemClock)
    } catch (error) {
      throw this.#failure(failed, error)
    } finally {
      call.end()
    }
  }

  #failure(failed: string, error: unknown): Error {
    const clean = without(this.#secrets, reasonOf(error))
    const text = inspect(error)
    const cause = without(this.#secrets, text) === text ? error : bare(error, clean)
    return Object.assign(MailSendError(this.name, failed, clean), { cause })
  }
}

/** Replaces an error that contains a secret with one that has only the members that programs read. */
function bare(error: unknown, message: string): Error {
  const { code, responseCode } = error as { code?: unknown; responseCode?: unknown }
  return Object.assign(new Error(message), { code, responseCode })
}

/** The secret members of nodemailer's option `auth`. */
const secretNames = ['pass', 'accessToken', 'refreshToken', 'clientSecret', 'privateKey'] as const
/** Shorter secrets occur in many other strings. */
const shortest = 4

const encoded = (text: string) => Buffer.from(text).toString('base64')

/** Strings that no message may contain: the passwords of a transporter, as given and as SMTP sends them, because servers repeat them. */
function secretsOf(transporter: unknown): readonly string[] {
  if (typeof transporter === 'string') return secretsOfAddress(transporter)
  // A transporter of nodemailer has the options that it was created with.
  const { options = transporter } = transporter as { options?: unknown }
  const { auth, url } = (options ?? {}) as { auth?: { readonly [name: string]: unknown }; url?: unknown }
  const own = secretNames.map((name) => auth?.[name]).filter((one) => typeof one === 'string')
  const forms = own.flatMap((secret) => formsOf(String(auth?.user), secret))
  return typeof url === 'string' ? [...forms, ...secretsOfAddress(url)] : forms
}

function secretsOfAddress(address: string): readonly string[] {
  const [, user = '', pass = ''] = /^[^:]*:\/\/([^:@/]*):([^@/]*)@/.exec(address) ?? []
  const decode = () => [pass, ...formsOf(decodeURIComponent(user), decodeURIComponent(pass))].filter(isLong)
  return safely(decode, formsOf(user, pass))
}

const isLong = (text: string) => text.length >= shortest

const formsOf = (user: string, pass: string): readonly string[] =>
  isLong(pass) ? [encoded(`\0${user}\0${pass}`), encoded(pass), pass] : []

/** The text with a placeholder for each of the secrets. */
const without = (secrets: readonly string[], text: string): string =>
  secrets.reduce((clean, secret) => clean.replaceAll(secret, '…'), text)
