import type { Logger, LogMethod } from '../../kernel/index.ts'
import { type LogSettings, settingsOf } from './options.ts'
import { loadPino, openSink } from './sink.ts'

const longest = 4_096

/** Long texts are cut: a header of a megabyte must not become a line of a megabyte. */
function cap(value: unknown, depth: number): unknown {
  if (typeof value === 'string' && value.length > longest) {
    return `${value.slice(0, longest)}… (${value.length} characters)`
  }
  if (depth === 0 || typeof value !== 'object' || value === null || value instanceof Error || Array.isArray(value))
    return value
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== null && prototype !== Object.prototype) return value
  let copy: Record<string, unknown> | undefined
  for (const [key, member] of Object.entries(value)) {
    const capped = cap(member, depth - 1)
    if (capped === member) continue
    copy ??= { ...value }
    copy[key] = capped
  }
  return copy ?? value
}

/** A pino logger after the settings, and how to write out what it holds. */
export function createLogger(settings: LogSettings): { logger: Logger; flush(): void } {
  const pino = loadPino()
  const sink = openSink(pino, settings.stream)
  const logger = pino(
    {
      level: settings.level,
      redact: { paths: [...settings.redact], censor: '[redacted]' },
      formatters: { log: (entry) => cap(entry, 2) as Record<string, unknown> },
      serializers: { err: pino.stdSerializers.err, original: pino.stdSerializers.err },
    },
    sink.destination,
  )
  return { logger: logger as unknown as Logger, flush: () => sink.flush() }
}

let shared: Logger | undefined
const get = (): Logger => {
  shared ??= createLogger(settingsOf()).logger
  return shared
}

function at(level: 'debug' | 'info' | 'warn' | 'error'): LogMethod {
  return (fields: string | object, message?: string) => get()[level](fields as object, message)
}

/**
 * The logger of the process, for code that has no request and no server in sight; pino with the defaults.
 *
 * @example
 * logger.info({ port: 3000 }, 'listening')
 */
export const logger: Logger = {
  debug: at('debug'),
  info: at('info'),
  warn: at('warn'),
  error: at('error'),
  child: (fields) => get().child(fields),
}
