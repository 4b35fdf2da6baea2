import type { Logger } from '../../kernel/index.ts'
import { MailClosedError, MailQueueFullError, reasonOf, withoutAddresses } from './errors.ts'
import type { MailMessage } from './transport.ts'

/** One waiting mail. */
interface Waiting {
  readonly id: string
  readonly attempt: () => Promise<unknown>
  failures: number
}

/** The members of nodemailer's error that describe a server's refusal, overall and for each recipient. */
interface SmtpFailure {
  readonly responseCode?: unknown
  readonly rejectedErrors?: readonly SmtpFailure[]
}

const spacing = 1000
const retries = 3
const maxWaiting = 10_000

/** Whether the server says that another attempt would also fail (RFC 5321, section 4.2.1). */
function isPermanent(error: unknown): boolean {
  const { cause } = error as { cause?: SmtpFailure }
  const all = cause?.rejectedErrors ?? [cause]
  return all.length > 0 && all.every((one) => Math.floor(Number(one?.responseCode) / 100) === 5)
}

/**
 * Sends mails one after another. Attempts start at least a second apart, whatever their results.
 * A mail that fails goes to the end of the queue; after three more attempts, or a permanent refusal, it is logged and dropped.
 */
export class Later {
  readonly #log: () => Logger
  readonly #waiting: Waiting[] = []
  #current: Waiting | undefined
  #running: Promise<void> | undefined
  #wake: (() => void) | undefined
  #lastStart = Number.NEGATIVE_INFINITY
  #isDraining = false
  #isStopped = false

  constructor(log: () => Logger) {
    this.#log = log
  }

  get size(): number {
    return this.#waiting.length + (this.#current === undefined ? 0 : 1)
  }

  add(mail: MailMessage, attempt: Waiting['attempt']): void {
    if (this.#isStopped) throw MailClosedError()
    if (this.size >= maxWaiting) throw MailQueueFullError(maxWaiting)
    this.#waiting.push({ id: mail.messageId, attempt, failures: 0 })
    this.#running ??= this.#run()
  }

  /** Sends the waiting mails without pauses, each at most once more, until `stop`. */
  async drain(): Promise<void> {
    this.#isDraining = true
    this.#wake?.()
    await this.#running
  }

  /** Starts no more mails. */
  stop(): void {
    this.#isStopped = true
  }

  /** Reports the remaining mails, at the very end. */
  logLost(): void {
    for (const { id } of this.#waiting.splice(0)) {
      this.#log().error({ mail: id }, `the mail ${id} was not delivered: the mailer closed`)
    }
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      await this.#pause()
      if (this.#isStopped) break
      this.#current = this.#waiting.shift()!
      this.#lastStart = performance.now()
      await this.#attempt(this.#current)
      this.#current = undefined
    }
    // Not in `finally`, which runs later: a mail added in between would wait for ever.
    this.#running = undefined
  }

  async #attempt(mail: Waiting): Promise<void> {
    try {
      await mail.attempt()
    } catch (error) {
      mail.failures++
      // Servers repeat the addresses that they refuse, which must not appear in a log.
      const fields = { mail: mail.id, reason: withoutAddresses(reasonOf(error)) }
      if (this.#isStopped) this.#waiting.push(mail)
      else if (mail.failures > retries || this.#isDraining || isPermanent(error)) {
        this.#log().error(fields, `the mail ${mail.id} was not delivered`)
      } else {
        this.#log().warn(fields, `the mail ${mail.id} failed and is retried`)
        this.#waiting.push(mail)
      }
    }
  }

  /** Waits until a second after the last attempt started, or until closing begins. */
  async #pause(): Promise<void> {
    const ms = this.#lastStart + spacing - performance.now()
    if (ms <= 0 || this.#isDraining) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
    this.#wake = undefined
  }
}
