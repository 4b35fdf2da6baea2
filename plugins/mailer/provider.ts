import { inspect } from 'node:util'
import { OptionError, Trace, type TraceOutcome, within } from '../../kernel/index.ts'
import { MailSendError, reasonOf } from './errors.ts'
import { MailBuilder } from './message.ts'
import type { ProviderSettings } from './options.ts'
import { secretsOf, without } from './secrets.ts'
import { isTransporter, type MailMessage, type MailTransporter, openTransport, whyNoFile } from './transport.ts'

/** Builds one email; may be async. */
export type MailCallback = (mail: MailBuilder) => unknown

/** An email that is passed to its transport. */
export interface MailSendTrace extends TraceOutcome {
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
  readonly #given: ProviderSettings
  readonly #timeout: number
  readonly #secrets: readonly string[]
  /** A controller for each call of the transporter in progress. */
  readonly #calls = new Set<AbortController>()
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
      () => ({ provider: this.name, mail }),
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
    for (const call of this.#calls) call.abort(reason)
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
    const call = new AbortController()
    const aborted = new Promise<never>((_resolve, reject) => {
      call.signal.addEventListener('abort', () => reject(call.signal.reason))
    })
    this.#calls.add(call)
    try {
      const sent = Promise.race([run(transporter, call.signal), aborted])
      return await within(sent, this.#timeout, () => {
        call.abort(new Error(`no response within ${this.#timeout} ms`))
        return sent
      })
    } catch (error) {
      throw this.#failure(failed, error)
    } finally {
      this.#calls.delete(call)
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
