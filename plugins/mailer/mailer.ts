import { type Logger, nearest, within } from '../../kernel/index.ts'
import { lineLogger } from '../shared/logging/logger.ts'
import { joinedOptions } from '../shared/options/two-arguments.ts'
import { stopOptions } from '../shared/work/running.ts'
import { MailClosedError, MailProviderError } from './errors.ts'
import { Later } from './later.ts'
import {
  type CheckedProviders,
  type MailerConfiguration,
  type MailerSettings,
  type MailProviders,
  mailerOptions,
} from './options.ts'
import { type MailCallback, type MailReceipt, OpenProvider } from './provider.ts'

/** Sends through one provider. */
export interface MailSender {
  /**
   * Sends one email now.
   *
   * @throws (as a rejection) MailSendError when the provider does not accept it in time; MailIncompleteError,
   * MailAddressError, MailHeaderError or MailTemplateError for a mistake in the mail.
   */
  send(callback: MailCallback): Promise<MailReceipt>
  /**
   * Puts one email into the queue of the mailer, in memory, and resolves with its `id`; it is sent in the background, one email
   * a second.
   *
   * @throws (as a rejection) for a mistake in the mail. Failures to send it are logged with the `id`.
   */
  later(callback: MailCallback): Promise<{ readonly id: string }>
  /** Resolves if the provider can be reached and accepts this mailer. @throws MailSendError (as a rejection). */
  verify(): Promise<true>
}

/**
 * Sends emails through SMTP, with templates; needs the package `nodemailer`, but no server.
 *
 * @example
 * const mailer = new Mailer(
 *   { main: { transporter: memoryTransport(), templateAdapter: new MustacheAdapter(), from: 'shop@example.org' } },
 *   { defaultProvider: 'main' },
 * )
 * await mailer.send((mail) =>
 *   mail.to('ada@example.org').subject('Hello {{name}}').template('<p>Hello {{name}}</p>', { name: 'Ada' }),
 * )
 */
export class Mailer<const Providers extends MailProviders = MailProviders> implements MailSender {
  readonly #providers = new Map<string, OpenProvider>()
  readonly #senders = new Map<string, MailSender>()
  readonly #default: OpenProvider
  readonly #later = new Later(() => this.#log)
  /** The sending in progress. */
  readonly #busy = new Set<Promise<unknown>>()
  #closed: Promise<void> | undefined
  #log: Logger = lineLogger()

  /** `read`: options that a plugin has already read. */
  constructor(
    providers: CheckedProviders<Providers>,
    settings: MailerSettings<keyof Providers & string>,
    read: MailerConfiguration = mailerOptions.parse(joinedOptions('providers', providers, settings), 'mailer'),
  ) {
    for (const [name, provider] of Object.entries(read.providers)) {
      this.#providers.set(name, new OpenProvider(name, provider, read.timeout))
    }
    this.#default = this.#providers.get(read.defaultProvider)!
  }

  send(callback: MailCallback): Promise<MailReceipt> {
    return this.#send(this.#default, callback)
  }

  later(callback: MailCallback): Promise<{ readonly id: string }> {
    return this.#enqueue(this.#default, callback)
  }

  verify(): Promise<true> {
    return this.#verify(this.#default)
  }

  /**
   * Returns a sender that uses another provider; all providers share the queue of `later`.
   *
   * @throws MailProviderError for an unknown name.
   */
  use(name: keyof Providers & string): MailSender {
    const provider = this.#providers.get(name)
    if (provider === undefined) {
      const known = [...this.#providers.keys()]
      throw MailProviderError(String(name), nearest(String(name), known), known)
    }
    let sender = this.#senders.get(name)
    if (sender === undefined) {
      sender = {
        send: (callback) => this.#send(provider, callback),
        later: (callback) => this.#enqueue(provider, callback),
        verify: () => this.#verify(provider),
      }
      this.#senders.set(name, sender)
    }
    return sender
  }

  /** How many emails of `later` have not been sent yet. */
  get waiting(): number {
    return this.#later.size
  }

  /**
   * Sends the waiting emails without pauses, and closes the connections. Emails that are not delivered in time are logged with their ids.
   *
   * @param options `timeout`: milliseconds for everything together. Default 10000.
   */
  async close(options?: { timeout?: number }): Promise<void> {
    const { timeout } = stopOptions.parse(options, 'mailer.close')
    this.#closed ??= this.#close(timeout)
    return this.#closed
  }

  /** Loads the packages of the transporters, without a connection. @internal */
  async prepare(): Promise<void> {
    for (const provider of this.#providers.values()) await provider.open()
  }

  /** Sends emails without pauses from now on, and waits for those that are waiting or being built. @internal */
  async drain(): Promise<void> {
    // In parallel, so that one slow email does not use up the time of all waiting ones; and again for emails that are still being built.
    await Promise.all([this.#later.drain(), ...this.#busy])
    await this.#later.drain()
  }

  /** @internal */
  logTo(log: Logger): void {
    this.#log = log
  }

  async #close(timeout: number): Promise<void> {
    const providers = [...this.#providers.values()]
    await within(this.drain(), timeout, () => {
      const reason = new Error('the mailer closed')
      this.#later.stop()
      for (const provider of providers) provider.abort(reason)
      // A callback that never ends cannot be aborted, only abandoned.
      return this.#later.drain()
    })
    await Promise.all(providers.map((provider) => provider.close()))
    this.#later.logLost()
  }

  #verify(provider: OpenProvider): Promise<true> {
    return this.#track(() => provider.verify())
  }

  #send(provider: OpenProvider, callback: MailCallback): Promise<MailReceipt> {
    return this.#track(async () => provider.send(await provider.compose(callback)))
  }

  #enqueue(provider: OpenProvider, callback: MailCallback): Promise<{ readonly id: string }> {
    const queued = this.#track(async () => {
      const mail = await provider.compose(callback)
      this.#later.add(mail, async () => {
        const { rejected } = await provider.send(mail)
        if (rejected.length === 0) return
        const log = { mail: mail.messageId, rejected: rejected.length }
        this.#log.warn(log, `the email ${mail.messageId} was refused for ${rejected.length} of its recipients`)
      })
      return { id: mail.messageId }
    })
    // Callers rarely await the promise, and an email with a mistake must not end the process.
    queued.catch((error: unknown) => this.#log.error({ err: error }, 'an email could not be queued'))
    return queued
  }

  /** Makes `close` wait for this call. */
  #track<Result>(run: () => Promise<Result>): Promise<Result> {
    if (this.#closed !== undefined) return Promise.reject(MailClosedError())
    const promise = run()
    const done = promise.then(
      () => {},
      () => {},
    )
    this.#busy.add(done)
    void done.then(() => this.#busy.delete(done))
    return promise
  }
}
