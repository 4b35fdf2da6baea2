import type { Logger, LogMethod } from '../../kernel/index.ts'
import { censor } from '../toolkit/censor.ts'
import { logFields } from '../toolkit/log-fields.ts'
import { describeError } from '../toolkit/logger.ts'
import { type LogSettings, logOptions } from './options.ts'
import { loadPino, openSink } from './sink.ts'

/** A pino logger after the settings. */
interface Made {
  readonly logger: Logger
  /** Resolves when it has written. */
  flush(): Promise<void>
  /** Adds the fields of plugins that have come since it was made. */
  addFields(): void
}

export function createLogger(settings: LogSettings): Made {
  const pino = loadPino()
  const sink = openSink(pino, settings.stream)
  const { err } = pino.stdSerializers
  // pino joins the messages of a chain and its stacks; text needs the message of each error, to distinguish a frame from a message.
  const isApart = (value: unknown) => sink.isText && value instanceof Error
  const error = (value: Error) => censor((isApart(value) ? describeError(value, true) : err(value)) as object)
  const clean = (entry: object) => censor(entry) as Record<string, unknown>
  const logger = pino(
    {
      level: settings.level,
      // The chain of causes; what is deeper would be the name of its class.
      ...(sink.isText && { depthLimit: 10 }),
      formatters: { log: clean },
      serializers: { err: error, error, original: error, req: describeRequest, res: describeResponse },
      ...(settings.redact.length === 0 ? {} : { redact: { paths: [...settings.redact], censor: '[redacted]' } }),
    },
    sink,
  )
  // pino only formats the fields of its root; children inherit this.
  const { child } = logger
  logger.child = function censoredChild(this: typeof logger, fields, options) {
    return child.call(this, clean(fields), options) as never
  }
  const addFields = () => {
    const fields = logFields()
    // Set only where some plugin gives fields: a mixin that gives none costs a line 90 ns of its 800. Children inherit it.
    // A fresh object each time: pino merges the entry into it.
    if (fields !== undefined) Object.assign(logger, { [pino.symbols.mixinSym]: () => ({ ...fields() }) })
  }
  addFields()
  return { logger, flush: () => sink.flush(), addFields }
}

// Whole requests and responses refer to the server: an entry only has the parts that it is about.
function describeRequest(req: unknown): unknown {
  const { id, method, path } = (req ?? {}) as Record<string, unknown>
  return { id, method, path }
}

function describeResponse(res: unknown): unknown {
  return { status: ((res ?? {}) as Record<string, unknown>).statusCode }
}

let shared: Logger | undefined

function processLogger(): Logger {
  shared ??= createLogger(logOptions.parse({}, 'log')).logger
  return shared
}

const method =
  (level: 'debug' | 'info' | 'warn' | 'error'): LogMethod =>
  (first: string | object, message?: string) =>
    typeof first === 'string' ? processLogger()[level](first) : processLogger()[level](first, message)

/**
 * The logger of the process, for code without a server or a request: pino with the defaults, made with
 * the first entry.
 *
 * @example
 * logger.info({ jobs: 3 }, 'imported')
 */
export const logger: Logger = {
  debug: method('debug'),
  info: method('info'),
  warn: method('warn'),
  error: method('error'),
  child: (fields) => processLogger().child(fields),
}
