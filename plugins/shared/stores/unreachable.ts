// The codes of Node.js, of its HTTP parser and `fetch`, of the Azure SDK, of Bun, and of Postgres that an administrator has ended, that
// has crashed, or that starts up or shuts down.
const codes =
  /^E(CONN|TIMEDOUT|HOST|NET|AI_|PIPE|NOTFOUND|PROTO)|^HPE_|UND_ERR|REQUEST_SEND_ERROR|^Connection|FailedToOpen|^57P0[123]$/
const names = /Timeout|^(MaxRetriesPerRequest|Abort|ConnectionClosed|Networking)Error$/
const sentences =
  /connection (is closed|terminated|ended|closed|reset|refused)|Command timed out|isn't writeable|timeout exceeded when trying to connect|socket hang up|Unable to connect|Unknown RESP type|Parse Error: Expected HTTP|^aborted$|fetch failed|^terminated$/i

/** Whether the error says that a service could not be reached, as opposed to refusing a call. */
export function isUnreachable(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isUnreachable)
  const { code, name, message, cause } = Object(error) as Record<string, unknown>
  if (codes.test(String(code)) || names.test(String(name)) || sentences.test(String(message))) return true
  return cause !== undefined && isUnreachable(cause)
}
