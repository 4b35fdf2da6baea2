import { checkOptions, OptionError, quoted } from '../../kernel/index.ts'

/** Where log lines go: anything with a `write` for text. */
export interface LogStream {
  write(line: string): unknown
}

export const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
export type LogLevel = (typeof levels)[number]

/** Options of the log. */
export interface LogOptions {
  /** The least level that is written. Default: the environment's `LOG_LEVEL`, else `'info'`. */
  level?: LogLevel
  /** Whether every answered request gets a line with method, path, status, milliseconds and id. Default true. */
  logResponse?: boolean
  /**
   * Paths of values to replace by `[redacted]`, as pino takes them, beside the names that always are: credentials in
   * headers, and whatever ends in `password`, `token` or `secret`. A path with `*` costs 20 µs a line.
   */
  redact?: readonly string[]
  /** Default: standard output. While developing it is readable text, if `pino-pretty` is installed and it is a terminal. */
  stream?: LogStream
}

/** The options with every default in place, checked. */
export interface LogSettings {
  readonly level: LogLevel
  readonly logResponse: boolean
  readonly redact: readonly string[]
  readonly stream: LogStream | undefined
}

function isLevel(value: unknown): value is LogLevel {
  return (levels as readonly unknown[]).includes(value)
}

export function settingsOf(options: LogOptions = {}): LogSettings {
  checkOptions('log', options, ['level', 'logResponse', 'redact', 'stream'])
  const { level = process.env.LOG_LEVEL || 'info', logResponse = true, redact = [], stream } = options
  if (!isLevel(level)) {
    throw OptionError(
      options.level === undefined ? 'LOG_LEVEL of the environment' : 'log.level',
      quoted(level),
      levels.join(', '),
    )
  }
  if (typeof logResponse !== 'boolean') throw OptionError('log.logResponse', quoted(logResponse), 'true or false')
  if (!Array.isArray(redact) || redact.some((path) => typeof path !== 'string' || path === '')) {
    throw OptionError('log.redact', redact, 'a list of paths, such as ["user.email"]')
  }
  if (stream !== undefined && typeof stream?.write !== 'function') {
    throw OptionError('log.stream', stream, 'an object with write(line)')
  }
  return { level, logResponse, redact, stream }
}

/** Whether the route option leaves a route out of the response log. */
export function isQuiet(option: unknown): boolean {
  if (option !== undefined && typeof option !== 'boolean') throw OptionError('log', quoted(option), 'true or false')
  return option === false
}
