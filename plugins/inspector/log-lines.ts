import type { Logger } from '../../kernel/index.ts'

/** The parts from which a log line is made. */
export interface LogLine {
  readonly level: string
  readonly message: string
  readonly fields: Readonly<Record<string, unknown>>
}

const levels = new Set(['trace', 'debug', 'info', 'warn', 'error', 'fatal'])
const noted = new WeakSet<object>()

/** Whether a logger already passes its lines to a listener. */
export const isNoted = (logger: Logger): boolean => noted.has(logger)

/** Returns a logger that also passes its lines to `note`, even those below its level. All other members are those of the given logger. */
export function noting(logger: Logger, note: (line: LogLine) => void, bound: Record<string, unknown> = {}): Logger {
  const proxy = new Proxy(logger, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target)
      if (isLogger(value)) return noting(value, note, bound)
      if (typeof value !== 'function') return value
      if (name === 'child')
        return (fields: Record<string, unknown>, ...more: unknown[]) =>
          noting(Reflect.apply(value, target, [fields, ...more]), note, { ...bound, ...fields })
      if (typeof name !== 'string' || !levels.has(name)) return value.bind(target)
      return (first: unknown, ...more: unknown[]) => {
        note(lineOf(name, bound, first, more))
        return Reflect.apply(value, target, [first, ...more])
      }
    },
  })
  noted.add(proxy)
  return proxy
}

function isLogger(value: unknown): value is Logger {
  const { child, info } = (value ?? {}) as { child?: unknown; info?: unknown }
  return typeof value === 'object' && typeof child === 'function' && typeof info === 'function'
}

function lineOf(level: string, bound: Record<string, unknown>, first: unknown, more: readonly unknown[]): LogLine {
  if (typeof first === 'string') return { level, message: first, fields: bound }
  if (first instanceof Error)
    return { level, message: String(more[0] ?? first.message), fields: { ...bound, err: first } }
  return { level, message: String(more[0] ?? ''), fields: { ...bound, ...(first as object) } }
}
