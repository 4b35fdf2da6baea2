import { addressOf } from './address.ts'
import { MailSendError, reasonOf } from './errors.ts'
import { MailBuilder } from './message.ts'
import type { MailProvider } from './options.ts'
import { isTransporter, type MailMessage, type MailTransporter, openTransport } from './transport.ts'

/** Fills in one mail; may be async. */
export type MailCallback = (mail: MailBuilder) => unknown

/** What became of a mail. */
export interface MailReceipt {
  /** The `Message-ID`, by which the mail is found in logs of servers. */
  readonly id: string
  /** Addresses that the server has taken. */
  readonly accepted: readonly string[]
  /** Addresses that it has refused, while it took others. */
  readonly rejected: readonly string[]
}

function textsOf(list: unknown): string[] | undefined {
  if (!Array.isArray(list)) return undefined
  return list.map((one: unknown) => (typeof one === 'string' ? one : String((one as { address?: unknown })?.address)))
}

/** A provider at work: its transporter is made with the first mail. */
export class OpenProvider {
  readonly name: string
  readonly #given: MailProvider
  readonly #timeout: number
  #transporter: Promise<MailTransporter> | undefined

  constructor(name: string, given: MailProvider, timeout: number) {
    this.name = name
    this.#given = given
    this.#timeout = timeout
  }

  async compose(callback: MailCallback): Promise<MailMessage> {
    const mail = new MailBuilder()
    await callback(mail)
    return mail.finish(addressOf('from', this.#given.from), this.#given.templateAdapter)
  }

  async send(mail: MailMessage, closing: AbortSignal): Promise<MailReceipt> {
    const info = await this.#within('did not take the mail', closing, (transporter, signal) =>
      transporter.sendMail({ ...mail, signal }),
    )
    const { accepted, rejected } = (info ?? {}) as { accepted?: unknown; rejected?: unknown }
    return {
      id: mail.messageId,
      accepted: textsOf(accepted) ?? mail.envelope.to,
      rejected: textsOf(rejected) ?? [],
    }
  }

  async verify(closing: AbortSignal): Promise<true> {
    await this.#within('is not usable', closing, async (transporter) => transporter.verify?.())
    return true
  }

  /** Closes a transporter that was made here; one that was given stays open. */
  async close(): Promise<void> {
    const transporter = await this.#transporter?.catch(() => undefined)
    if (!isTransporter(this.#given.transporter)) transporter?.close?.()
  }

  open(): Promise<MailTransporter> {
    const { transporter } = this.#given
    if (isTransporter(transporter)) return Promise.resolve(transporter)
    this.#transporter ??= openTransport(transporter, this.#timeout)
    return this.#transporter
  }

  /** Rejects in time whatever the transporter does: one that ignores the signal is left behind. */
  async #within<Result>(
    failed: string,
    closing: AbortSignal,
    run: (transporter: MailTransporter, signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    const transporter = await this.open()
    const late = new AbortController()
    const timer = setTimeout(() => late.abort(new Error(`no answer within ${this.#timeout} ms`)), this.#timeout)
    // Not `AbortSignal.any`, which leaves something at the longer-lived signal on Node.js 20.
    const stop = () => late.abort(closing.reason)
    closing.addEventListener('abort', stop)
    const aborted = new Promise<never>((_resolve, reject) => {
      late.signal.addEventListener('abort', () => reject(late.signal.reason))
      if (closing.aborted) stop()
    })
    try {
      return await Promise.race([run(transporter, late.signal), aborted])
    } catch (error) {
      throw Object.assign(MailSendError(this.name, failed, reasonOf(error)), { cause: error })
    } finally {
      clearTimeout(timer)
      closing.removeEventListener('abort', stop)
    }
  }
}
