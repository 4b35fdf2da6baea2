/** Writes one entry; the fields first, then the sentence, as in pino. */
export interface LogMethod {
  (message: string): void
  (fields: object, message?: string): void
}

/** The log that the kernel, `req.log` and `ctx.log` write to. A pino logger is one. */
export interface Logger {
  /** Details for finding a fault; usually not written. */
  debug: LogMethod
  /** For normal events. */
  info: LogMethod
  /** For what someone should look at, although the server continues. */
  warn: LogMethod
  /** For what has failed. */
  error: LogMethod
  /** A logger that adds fields to every entry. */
  child(fields: Record<string, unknown>): Logger
}

/** The server, whose logger is looked up only when something is reported. */
export type LoggerOwner = { readonly safeLogger: Logger }

/** How everything below the kernel reports warnings. */
export function warnInto(server: LoggerOwner): (message: string, error?: unknown) => void {
  return (message, error) => server.safeLogger.warn(error === undefined ? {} : { err: error }, message)
}
