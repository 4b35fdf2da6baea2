/** Whether a server was requested: `framework` includes `framework, jit`, and `fastify` includes `fastify.inject`. */
export function isWanted(server: string, names: readonly string[] | undefined): boolean {
  return names === undefined || names.includes(server) || names.includes(server.replace(/[,.].*/, ''))
}
