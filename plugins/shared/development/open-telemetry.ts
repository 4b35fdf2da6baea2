import { isInTime, type Logger, systemClock } from '../../../kernel/index.ts'

export type OpenTelemetryApi = typeof import('@opentelemetry/api')

/** The methods of RFC 9110, and PATCH; any other may be a client's invention, and would become the name of a span or a series. */
const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE'])

/** The method of a request as the conventions name it. */
export const methodAttribute = (method: string): string => (methods.has(method) ? method : '_OTHER')

/** The code or the name of an error, by which the conventions distinguish errors; `undefined` if neither can be an attribute. */
export function errorType(thrown: unknown): string | undefined {
  const { code, name } = (thrown ?? {}) as { readonly code?: unknown; readonly name?: unknown }
  return [code, name].find((one): one is string => typeof one === 'string' && one !== '' && one.length <= 200)
}

/** Milliseconds: an unavailable collector must not delay the end of a process. */
const flushTimeout = 2_000

/** Lets an SDK export what it has, if it has a call for this: most export from time to time, and the process may end with this server. */
export async function exportLast(sdk: unknown, what: string, log: Logger): Promise<void> {
  const flush = async () => (sdk as { forceFlush?(): Promise<void> }).forceFlush?.()
  const failed = (error: unknown) => log.warn({ err: error }, `${what} were not exported`)
  if (!(await isInTime(flush().catch(failed), flushTimeout, systemClock)))
    log.warn({ ms: flushTimeout }, `${what} were not exported in time`)
}
