import { clock, type Logger } from '../../kernel/index.ts'
import { inServer } from '../shared/work/contexts.ts'
import {
  LocalConsumer,
  type LocalDeliver,
  type LocalMessage,
  LocalQueue,
  type Outcome,
} from '../shared/work/local-queue.ts'
import { MailClosedError, MailQueueFullError, reasonOf, withoutAddresses } from './errors.ts'

/** One waiting email. */
interface Waiting extends LocalMessage {
  readonly send: () => Promise<unknown>
}

/** The members of nodemailer's error that describe a server's refusal, overall and for each recipient. */
interface SmtpFailure {
  readonly responseCode?: unknown
  readonly rejectedErrors?: readonly SmtpFailure[]
}

const retries = 3
const maxWaiting = 10_000

/** Whether the server says that another attempt would also fail (RFC 5321, section 4.2.1). */
export function isPermanent(error: unknown): boolean {
  const { cause } = error as { cause?: SmtpFailure }
  const all = cause?.rejectedErrors ?? [cause]
  return all.length > 0 && all.every((one) => Math.floor(Number(one?.responseCode) / 100) === 5)
}

/** Servers repeat the addresses that they refuse, which must not appear in a log. */
const fieldsOf = (id: string, error: unknown) => ({ mail: id, reason: withoutAddresses(reasonOf(error)) })

/**
 * Sends emails one after another. Attempts start at least a second apart, whatever their results.
 * An email that fails goes to the end of the queue; after three more attempts, or a permanent refusal, it is logged and dropped.
 */
export class Later {
  readonly #log: () => Logger
  /** Milliseconds between the starts of two attempts. */
  readonly #spacing: number
  /** The server whose emails these are; a script has none. */
  server: object | undefined
  readonly #queue = new LocalQueue<Waiting>(0, () => MailClosedError())
  readonly #deliver: LocalDeliver<Waiting> = async (mail, settle) => settle(mail, await this.#attempt(mail))
  readonly #consumer = new LocalConsumer(this.#queue, this.#deliver, 1)
  #turns = Promise.resolve()
  #lastStart = Number.NEGATIVE_INFINITY
  readonly #draining = new AbortController()
  #isStopped = false

  constructor(log: () => Logger, spacing: number) {
    this.#log = log
    this.#spacing = spacing
  }

  get size(): number {
    return this.#queue.size
  }

  add(id: string, send: Waiting['send']): void {
    if (this.#isStopped) throw MailClosedError()
    if (this.size >= maxWaiting) throw MailQueueFullError(maxWaiting)
    const attempts = Number.POSITIVE_INFINITY
    const place = { next: undefined, previous: undefined }
    this.#queue.add({ id, send, priority: 0, attempts, attempt: 0, since: 0, ...place, backoff: () => 0 })
  }

  /** Sends the waiting emails without pauses, each at most once more, until `stop`. */
  async drain(): Promise<void> {
    this.#draining.abort()
    // Without a consumer, after `stop`, it is not drained.
    await this.#queue.drained().catch(() => {})
  }

  /** Starts no more emails and reports those that wait, immediately: the time of the close hook is over, and the process may end. */
  stop(): void {
    this.#isStopped = true
    this.#consumer.stop()
    for (let mail = this.#queue.waiting.take(); mail !== undefined; mail = this.#queue.waiting.take())
      this.#lose(mail.id, MailClosedError())
  }

  /** Waits for the turn of an email, also of one that is kept elsewhere: a second after the last one has started. */
  turn(): Promise<void> {
    this.#turns = this.#turns.then(async () => {
      const ms = this.#lastStart + this.#spacing - clock.monotonic()
      // No longer once closing begins.
      if (ms > 0) await clock.sleep(ms, this.#draining.signal).catch(() => {})
      this.#lastStart = clock.monotonic()
    })
    return this.#turns
  }

  /** Logs an email that is given up. */
  refused(id: string, error: unknown): void {
    this.#log().error(fieldsOf(id, error), `the email ${id} was not delivered`)
  }

  #lose(id: string, error: Error): Outcome {
    this.#log().error({ mail: id }, `the email ${id} was not delivered: the mailer closed`)
    return { ok: false, error, final: true }
  }

  async #attempt({ id, attempt, send }: Waiting): Promise<Outcome> {
    await this.turn()
    if (this.#isStopped) return this.#lose(id, MailClosedError())
    try {
      await inServer(this.server, send)
      return { ok: true }
    } catch (thrown) {
      const error = thrown as Error
      if (this.#isStopped) return this.#lose(id, error)
      const final = attempt > retries || this.#draining.signal.aborted || isPermanent(error)
      if (final) this.refused(id, error)
      else this.#log().warn(fieldsOf(id, error), `the email ${id} failed and is retried`)
      return { ok: false, error, final }
    }
  }
}
