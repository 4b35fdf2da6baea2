const codes = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'ECONNABORTED', 'ENOTFOUND', 'EAI_AGAIN', 'ETIMEDOUT', 'EHOSTUNREACH'],
  ...['ENETUNREACH', 'EPIPE', 'TimeoutError'],
  // Bun's own.
  ...['ConnectionRefused', 'ConnectionClosed', 'FailedToOpenSocket'],
  // Postgres: ended by an administrator, crashed, starting up or shutting down.
  ...['57P01', '57P02', '57P03'],
])
const names = new Set(['MaxRetriesPerRequestError', 'TimeoutError', 'AbortError', 'ConnectionClosedError'])
const sentences =
  /Connection (is closed|terminated|ended)|Command timed out|isn't writeable|timeout exceeded when trying to connect|socket hang up|Unable to connect|Unknown RESP type|Parse Error: Expected HTTP/i

/** Whether the error says that an engine could not be reached, as opposed to refusing a call. */
export function isUnreachable(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isUnreachable)
  if (!(error instanceof Error)) return false
  const { code, name, message, cause } = error as Error & { code?: unknown }
  return (
    codes.has(String(code)) ||
    names.has(name) ||
    sentences.test(message) ||
    (cause !== undefined && isUnreachable(cause))
  )
}
