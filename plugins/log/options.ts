import { checkOptions, OptionError } from '../../kernel/index.ts'

/** Where log lines go: anything with a `write` for text. */
export interface LogStream {
  write(line: string): unknown
}

export const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
export type Level = (typeof levels)[number]

/** Options of the log. */
export interface LogOptions {
  /** The least level that is written. Default: the environment's `LOG_LEVEL`, else `'info'`. */
  level?: Level
  /** Whether every answered request gets a line with method, path, status, milliseconds and id. Default true. */
  logResponse?: boolean
  /** Paths of values that are replaced by `[redacted]`, added to those that always are (see {@link alwaysRedacted}). */
  redact?: readonly string[]
  /** Default: standard output, buffered; readable instead of JSON where `pino-pretty` is installed and a person looks on. */
  stream?: LogStream
}

const secrets = ['authorization', 'cookie', '["set-cookie"]', 'password', 'token', 'secret']

/** What never reaches a log: credentials, at the top of an entry and one level below (`headers.authorization`). */
export const alwaysRedacted: readonly string[] = secrets.flatMap((name) => [
  name,
  name.startsWith('[') ? `*${name}` : `*.${name}`,
])

/** The options with every default in place, checked. */
export interface LogSettings {
  readonly level: Level
  readonly logResponse: boolean
  readonly redact: readonly string[]
  readonly stream: LogStream | undefined
}

export function settingsOf(options: LogOptions = {}): LogSettings {
  checkOptions('log', options, ['level', 'logResponse', 'redact', 'stream'])
  const { level = (process.env.LOG_LEVEL || 'info') as Level, logResponse = true, redact = [], stream } = options
  if (!levels.includes(level)) throw OptionError('log.level', level, levels.join(', '))
  if (typeof logResponse !== 'boolean') throw OptionError('log.logResponse', logResponse, 'true or false')
  if (!Array.isArray(redact) || redact.some((path) => typeof path !== 'string' || path === '')) {
    throw OptionError('log.redact', redact, 'a list of paths, such as ["user.email"]')
  }
  if (stream !== undefined && typeof stream?.write !== 'function')
    throw OptionError('log.stream', stream, 'an object with write(line)')
  return { level, logResponse, redact: [...alwaysRedacted, ...redact], stream }
}
