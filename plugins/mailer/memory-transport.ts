import { AssertionError } from 'node:assert'
import { option } from '../shared/options/index.ts'
import { defined } from '../shared/values/json.ts'
import { matches } from '../shared/values/subset.ts'
import type { MailMessage, MailTransporter } from './transport.ts'

/** The properties of the expected mail: strings must be equal, regular expressions must match. */
export interface MailMatch {
  /** One of the recipients, `cc` and `bcc` included. */
  to?: string
  /** The address of the sender. */
  from?: string
  /** The whole subject, or a regular expression that it matches. */
  subject?: string | RegExp
  /** The whole HTML, or a regular expression that it matches. */
  html?: string | RegExp
  /** The whole plain text, or a regular expression that it matches. */
  text?: string | RegExp
}

const maxSent = 1000

const pattern = option.value<string | RegExp>(
  'a string or a regular expression',
  (given) => typeof given === 'string' || given instanceof RegExp,
)
const address = option.value<string>('an address', (given) => typeof given === 'string')
const mailMatch = option
  .shape({ to: address, from: address, subject: pattern, html: pattern, text: pattern })
  .typed<MailMatch>()
const sentMatch = mailMatch.required()

const isMeant = (mail: MailMessage, match: MailMatch) => matches({ ...mail, ...mail.envelope }, defined(match))

/** Keeps emails in memory instead of sending them, with assertions for tests. */
export class MemoryTransport implements MailTransporter {
  readonly #sent: MailMessage[] = []
  readonly #failures: unknown[] = []

  /** The sent emails, oldest first; the last 1000 are kept. */
  get sent(): readonly MailMessage[] {
    return this.#sent
  }

  /** Keeps the email; resolves with all recipients as `accepted` and none as `rejected`, unless `failNext` asked for a failure. */
  async sendMail(mail: MailMessage): Promise<{ accepted: string[]; rejected: string[] }> {
    if (this.#failures.length > 0) throw this.#failures.shift()
    const { signal, ...kept } = mail
    this.#sent.push(kept)
    if (this.#sent.length > maxSent) this.#sent.shift()
    return { accepted: mail.envelope.to, rejected: [] }
  }

  /** Always succeeds: there is nothing to reach. */
  async verify(): Promise<true> {
    return true
  }

  /** Makes the next attempts fail, like a server that is down. */
  failNext(times = 1, error: Error = new Error('the memory transport fails because of failNext')): this {
    for (let i = 0; i < times; i++) this.#failures.push(error)
    return this
  }

  /** Forgets everything. */
  clear(): this {
    this.#sent.length = 0
    this.#failures.length = 0
    return this
  }

  /** Checks that such an email was sent. @throws AssertionError when none was; its message shows the emails that were. */
  assertSent(match: MailMatch): this {
    // A misspelt member would match every mail.
    sentMatch.parse(match, 'assertSent')
    if (this.#sent.some((mail) => isMeant(mail, match))) return this
    return this.#fail('no such email was sent', match)
  }

  /** Checks that no such email was sent; without an argument, none at all. @throws AssertionError when one was. */
  assertNotSent(match: MailMatch = {}): this {
    mailMatch.parse(match, 'assertNotSent')
    if (!this.#sent.some((mail) => isMeant(mail, match))) return this
    return this.#fail('such an email was sent', match)
  }

  /** Checks how many emails were sent. @throws AssertionError when there were more or fewer. */
  assertCount(count: number): this {
    if (this.#sent.length === count) return this
    return this.#fail(`${this.#sent.length} emails were sent, not ${count}`, count)
  }

  #fail(message: string, expected: unknown): never {
    const actual = this.#sent.map(({ envelope, subject, html, text }) => ({ ...envelope, subject, html, text }))
    throw new AssertionError({ message, actual, expected, operator: 'mail' })
  }
}

/**
 * A transporter for tests and development: emails stay in memory.
 *
 * @example
 * const outbox = memoryTransport()
 * const mailer = new Mailer({ main: { transporter: outbox, from: 'shop@example.org' } }, { defaultProvider: 'main' })
 * await mailer.send((mail) => mail.to('ada@example.org').subject('Hello').text('Hello Ada'))
 * outbox.assertSent({ to: 'ada@example.org', subject: /^Hello/ }).assertCount(1)
 */
export const memoryTransport = (): MemoryTransport => new MemoryTransport()
