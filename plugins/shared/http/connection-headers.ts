/** Headers that apply to one connection and not to the next (RFC 9110 section 7.6.1). */
const ofConnection = ['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade']

/**
 * The headers that apply to one connection only (RFC 9110 section 7.6.1), including those that the header `connection` names, whose
 * value is the argument.
 *
 * @example
 * connectionHeaders('close, x-hop').has('x-hop') // true
 */
export function connectionHeaders(connection: string | null | undefined): Set<string> {
  const named = connection?.split(',').map((name) => name.trim().toLowerCase()) ?? []
  return new Set([...ofConnection, ...named])
}
