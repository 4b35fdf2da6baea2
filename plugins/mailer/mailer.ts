import { type Logger, systemClock, within } from '../../kernel/index.ts'
import { lineLogger } from '../shared/logging/logger.ts'
import { joinedOptions } from '../shared/options/two-arguments.ts'
import { stopOptions } from '../shared/work/running.ts'
import { outboxFor, whenCommitted } from '../shared/work/transactions.ts'
import { MailClosedError, MailProviderError } from './errors.ts'
import { isPermanent, Later } from './later.ts'
import {
  type CheckedProviders,
  type MailerConfiguration,
  type MailerSettings,
  type MailProviders,
  mailerOptions,
} from './options.ts'
import { type MailCallback, type MailReceipt, OpenProvider } from './provider.ts'
import type { MailMessage, MailTransporter } from './transport.ts'

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
  readonly #providers: OpenProvider[] = []
  readonly #senders = new Map<string, MailSender>()
  readonly #default: MailSender
  readonly #later: Later
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
    this.#later = new Later(() => this.#log, read.spacing)
    for (const [name, given] of Object.entries(read.providers)) {
      const provider = new OpenProvider(name, given, read.timeout)
      this.#providers.push(provider)
      this.#senders.set(name, this.#senderOf(provider))
    }
    this.#default = this.use(read.defaultProvider)
  }

  send(callback: MailCallback): Promise<MailReceipt> {
    return this.#default.send(callback)
  }

  later(callback: MailCallback): Promise<{ readonly id: string }> {
    return this.#default.later(callback)
  }

  verify(): Promise<true> {
    return this.#default.verify()
  }

  /**
   * Returns a sender that uses another provider; all providers share the queue of `later`.
   *
   * @throws MailProviderError for an unknown name.
   */
  use(name: keyof Providers & string): MailSender {
    const sender = this.#senders.get(name)
    if (sender !== undefined) return sender
    throw MailProviderError(String(name), [...this.#senders.keys()])
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

  /** Resolves if every provider can be used. Closing does not wait for it. @internal */
  async health(): Promise<void> {
    await Promise.all(this.#providers.map((provider) => provider.verify()))
  }

  /** Loads the packages of the transporters, without a connection. @internal */
  prepare(): Promise<readonly MailTransporter[]> {
    return Promise.all(this.#providers.map((provider) => provider.open()))
  }

  /** Sends emails without pauses from now on, and waits for those that are waiting or being built. @internal */
  async drain(): Promise<void> {
    // In parallel, so that one slow email does not use up the time of all waiting ones; and again for emails that are still being built.
    await Promise.all([this.#later.drain(), ...this.#busy])
    await this.#later.drain()
  }

  /** Makes this the mailer of a server. @internal */
  mount(server: object, log: Logger): void {
    this.#later.server = server
    for (const provider of this.#providers) provider.server = server
    this.#log = log
  }

  async #close(timeout: number): Promise<void> {
    const late = () => {
      const reason = new Error('the mailer closed')
      this.#later.stop()
      for (const provider of this.#providers) provider.abort(reason)
      // A callback that never ends cannot be aborted, only abandoned.
      return this.#later.drain()
    }
    await within(this.drain(), timeout, late, systemClock)
    await Promise.all(this.#providers.map((provider) => provider.close()))
  }

  #senderOf(provider: OpenProvider): MailSender {
    return {
      verify: () => this.#track(() => provider.verify()),
      send: (callback) =>
        this.#track(async () => {
          const mail = await provider.compose(callback)
          const meanwhile = { id: mail.messageId, accepted: [], rejected: [] }
          if (await this.#store(provider, mail, false)) return meanwhile
          return whenCommitted('an email', () => provider.send(mail), meanwhile)
        }),
      later: (callback) => {
        const queued = this.#track(async () => {
          const mail = await provider.compose(callback)
          const meanwhile = { id: mail.messageId }
          if (await this.#store(provider, mail, true)) return meanwhile
          return whenCommitted('an email', async () => this.#enqueue(provider, mail), meanwhile)
        })
        // Callers rarely await the promise, and an email with a mistake must not end the process.
        queued.catch((error: unknown) => this.#log.error({ err: error }, 'an email could not be queued'))
        return queued
      },
    }
  }

  /** Leaves an email to the outbox of the running transaction, if there is one. Emails have no order. */
  async #store(provider: OpenProvider, mail: MailMessage, isLater: boolean): Promise<boolean> {
    const store = outboxFor(provider.server)
    await store?.({ sender: 'mailer', key: mail.messageId, data: { provider: provider.name, mail, isLater } })
    return store !== undefined
  }

  /** Sends an email from the outbox. One that is refused for ever is logged and dropped, as by `later`. @internal */
  async deliver({ provider: name, mail, isLater }: { provider: string; mail: MailMessage; isLater: boolean }) {
    const provider = this.#providers.find((one) => one.name === name)
    if (provider === undefined) throw MailProviderError(name, [...this.#senders.keys()])
    if (isLater) await this.#later.turn()
    try {
      await provider.send(mail)
    } catch (error) {
      if (!isPermanent(error)) throw error
      this.#later.refused(mail.messageId, error)
    }
  }

  #enqueue(provider: OpenProvider, mail: MailMessage): { readonly id: string } {
    const { messageId: id } = mail
    this.#later.add(id, async () => {
      const { rejected } = await provider.send(mail)
      if (rejected.length === 0) return
      const log = { mail: id, rejected: rejected.length }
      this.#log.warn(log, `the email ${id} was refused for ${rejected.length} of its recipients`)
    })
    return { id }
  }

  /** Makes `close` wait for this call. */
  #track<Result>(run: () => Promise<Result>): Promise<Result> {
    if (this.#closed !== undefined) return Promise.reject(MailClosedError())
    const promise = run()
    const done = promise.catch(() => {}).finally(() => this.#busy.delete(done))
    this.#busy.add(done)
    return promise
  }
}
