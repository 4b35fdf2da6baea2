import { clock, isPromise, type Logger } from '../../../kernel/index.ts'
import { namesPlaces } from '../terminal/error-lines.ts'
import { textFor } from '../terminal/form.ts'
import { ReadableLines } from '../terminal/lines.ts'
import { safely } from '../values/safely.ts'
import { logFields } from './log-fields.ts'

const levels = { debug: 20, info: 30, warn: 40, error: 50 } as const
type Level = keyof typeof levels

/**
 * An error as plain data; getters that throw and cycles must not turn a log line into a second failure.
 *
 * @param forText For lines for people, which record whether the framework has written a message.
 */
export function describeError(value: unknown, forText: boolean, depth = 0): unknown {
  if (!(value instanceof Error)) {
    return typeof value === 'bigint' || typeof value === 'symbol' || typeof value === 'function' ? String(value) : value
  }
  const read = () => {
    const described: Record<string, unknown> = { type: value.name, message: value.message, stack: value.stack }
    if ('code' in value) described.code = value.code
    if (forText) described.isOwn = namesPlaces(value)
    if (value.cause !== undefined && depth < 5) described.cause = describeError(value.cause, forText, depth + 1)
    if (value instanceof AggregateError && depth < 2)
      described.errors = value.errors.slice(0, 20).map((e) => describeError(e, forText, depth + 1))
    return described
  }
  return safely(read, { type: 'Error', message: 'an error that cannot be read' })
}

function toLine(level: Level, bound: Record<string, unknown>, fields: object, message: string | undefined): string {
  const entry: Record<string, unknown> = { level: levels[level], time: clock.now(), ...bound, ...logFields()?.() }
  for (const [key, value] of Object.entries(fields)) entry[key] = describeError(value, textFor(2) !== undefined)
  if (message !== undefined) entry.msg = message
  const msg = message ?? 'an entry that cannot be written as JSON'
  return safely(() => JSON.stringify(entry)) ?? JSON.stringify({ level: levels[level], time: clock.now(), msg })
}

class LineLogger implements Logger {
  readonly #bound: Record<string, unknown>
  readonly #write: (line: string) => void
  /** `undefined` without a level. */
  readonly #from: Level | undefined

  constructor(write: (line: string) => void, from: Level | undefined, bound: Record<string, unknown> = {}) {
    this.#write = write
    this.#from = from
    this.#bound = bound
  }

  /** The same logger, but from `info` on unless a level was given. */
  get talkative(): Logger {
    return new LineLogger(this.#write, this.#from ?? 'info', this.#bound)
  }

  #log(level: Level, first: string | object, message?: string): void {
    if (levels[level] < levels[this.#from ?? 'warn']) return
    const line =
      typeof first === 'string'
        ? toLine(level, this.#bound, {}, first)
        : first instanceof Error
          ? toLine(level, this.#bound, { err: first }, message ?? first.message)
          : toLine(level, this.#bound, first, message)
    this.#write(line)
  }

  debug(first: string | object, message?: string): void {
    this.#log('debug', first, message)
  }
  info(first: string | object, message?: string): void {
    this.#log('info', first, message)
  }
  warn(first: string | object, message?: string): void {
    this.#log('warn', first, message)
  }
  error(first: string | object, message?: string): void {
    this.#log('error', first, message)
  }

  child(fields: Record<string, unknown>): Logger {
    return new LineLogger(this.#write, this.#from, { ...this.#bound, ...fields })
  }
}

/**
 * The logger of a server without one: it writes one JSON line per entry to standard error, from `warn` on unless a level is
 * given.
 *
 * It exists so that a failure is never silent; the log plugin replaces it with pino.
 *
 * @example
 * const log = lineLogger((line) => console.error(line), 'debug')
 * log.info({ port: 3000 }, 'listening')
 */
export function lineLogger(write?: (line: string) => void, from?: Level): Logger {
  return new LineLogger(write ?? writeToStandardError, from)
}

/**
 * The logger for an application's own messages, such as those of a job: it also writes `info`, unless the application
 * has chosen a logger or a level. The framework's own lines are written from `warn` on.
 *
 * @example
 * const log = applicationLogger(server.logger)
 * log.info('the report was sent')
 */
export const applicationLogger = (logger: Logger): Logger => (logger instanceof LineLogger ? logger.talkative : logger)

let standardError: ((line: string) => void) | undefined

function writeToStandardError(line: string): void {
  standardError ??= openStandardError()
  standardError(line)
}

function openStandardError(): (line: string) => void {
  // Without a listener, the first line after the reader has gone would end the process.
  process.stderr.on('error', () => {})
  const paint = textFor(2)
  if (paint === undefined) return (line) => void process.stderr.write(`${line}\n`)
  const lines = new ReadableLines((text) => void process.stderr.write(text), paint, { hasRequests: false })
  return (line) => lines.write(line)
}

const guarded = new WeakMap<Logger, Logger>()

/**
 * The same logger, whose methods neither throw nor reject: what an application passes as `logger` runs wherever a failure is reported, where
 * its own failure would end the process or leave a request without a response. Reports the first one on standard error.
 */
export function guardedLogger(logger: Logger): Logger {
  const known = logger instanceof LineLogger ? logger : guarded.get(logger)
  if (known !== undefined) return known
  let report = (err: unknown) => {
    report = () => {}
    lineLogger().error({ err }, "the server's logger has failed; its entries may be missing")
  }
  const get = (target: Logger, name: string | symbol) => {
    const member: unknown = Reflect.get(target, name)
    if (typeof member !== 'function') return member
    return (...given: unknown[]) => {
      try {
        const result: unknown = Reflect.apply(member, target, given)
        if (name === 'child') return new Proxy(result as Logger, { get })
        return isPromise(result) ? Promise.resolve(result).catch((error: unknown) => report(error)) : result
      } catch (error) {
        report(error)
        return new Proxy(target, { get })
      }
    }
  }
  const made = new Proxy(logger, { get })
  guarded.set(logger, made)
  return made
}

/** The loggers of servers without one. */
const fallbacks = new WeakSet<Logger>()

/** Makes the logger of a server without one. */
export function fallbackLogger(): Logger {
  const logger = lineLogger()
  fallbacks.add(logger)
  return logger
}

/** Whether this logger is the default one. */
export const isFallback = (logger: Logger): boolean => fallbacks.has(logger)
