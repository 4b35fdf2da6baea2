/** Headers of one connection, which say nothing on another one (RFC 9110 section 7.6.1). */
const ofConnection = ['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade']

/** Those, and the ones that the connection itself names. `connection` is the value of the header of that name. */
export function connectionHeaders(connection: string | null | undefined): Set<string> {
  const named = connection?.split(',').map((name) => name.trim().toLowerCase()) ?? []
  return new Set([...ofConnection, ...named])
}
