import { OptionPlace, quoted } from '../../kernel/index.ts'
import { variable } from '../shared/environment/process.ts'
import { option, type SettingsOf } from '../shared/options/index.ts'
import { type LogStream, loadPino } from './sink.ts'

export const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
/** The lowest level that is written: `silent` writes nothing. */
export type LogLevel = (typeof levels)[number]

/** Options of the log. */
export interface LogOptions {
  /** The lowest level that is written. Default: `LOG_LEVEL` in the environment, otherwise `'info'`. */
  level?: LogLevel
  /** Whether every request is logged with its response, with method, path, status, milliseconds and id. Default true. */
  logResponse?: boolean
  /**
   * Paths of values to replace by `[redacted]`, in pino's syntax, in addition to the names that are always redacted: credentials in
   * headers, and any name that ends in `password`, `token` or `secret`. A path with `*` takes 20 µs per line.
   */
  redact?: readonly string[]
  /**
   * Where the lines are written. Default: standard output; during development as readable text, if `pino-pretty` is installed and
   * standard output is a terminal.
   */
  stream?: LogStream
}

const level = option.oneOf(...levels)

export const logOptions = option
  .shape({
    level,
    logResponse: option.flag().default(true),
    redact: option.list(option.name()).says('a list of paths, such as ["user.email"]'),
    stream: option.having<LogStream>(['write'], 'an object with write(line)'),
  })
  .into((given, place) => {
    const { redact = [] } = given
    const why = redact.length === 0 ? undefined : whyUnusable(redact)
    if (why !== undefined) place.in('redact').wrong(quoted(redact), `paths in the syntax of pino: ${why}`)
    return {
      ...given,
      level: given.level ?? levelOfEnvironment(place),
      redact,
      /** The names of given options that concern the logger itself. */
      ofLogger: (['level', 'redact', 'stream'] as const).filter((name) => given[name] !== undefined),
    }
  })
  .typed<LogOptions>()

export type LogSettings = SettingsOf<typeof logOptions>

function levelOfEnvironment(place: OptionPlace): LogLevel {
  const where = new OptionPlace('LOG_LEVEL of the environment')
  const found = level.default('info').read(variable('LOG_LEVEL') as LogLevel | undefined, where)
  for (const problem of where.problems) place.problem(problem)
  return found
}

function whyUnusable(paths: readonly string[]): string | undefined {
  try {
    loadPino()({ redact: [...paths] }, { write() {} })
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}
