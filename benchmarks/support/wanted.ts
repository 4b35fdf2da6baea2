/** Whether a server was asked for: `framework` stands for `framework, jit` too, and `fastify` for `fastify.inject`. */
export function isWanted(server: string, names: readonly string[] | undefined): boolean {
  return names === undefined || names.includes(server) || names.includes(server.replace(/[,.].*/, ''))
}
