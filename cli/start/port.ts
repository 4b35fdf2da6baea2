import { createServer } from 'node:net'

/** Answers for all workers which port they bind; rejects if a process that is not one of the workers has it. */
export type SharePort = (host: string, port: number, nth: number) => Promise<number>

/**
 * Several processes can bind one port with SO_REUSEPORT, and so could any other that does the same, such as a second start of the
 * application, which would receive half of the requests. So before the first worker binds it, the port is opened once exclusively, which
 * fails if another process has it.
 */
export function sharedPorts(): SharePort {
  const known = new Map<string, Promise<number>>()
  return (host, port, nth) => {
    const key = `${host} ${port === 0 ? `any ${nth}` : port}`
    const before = known.get(key)
    if (before !== undefined) return before
    const found = openOnce(host, port)
    known.set(key, found)
    found.catch(() => known.delete(key))
    return found
  }
}

function openOnce(host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen({ host, port, exclusive: true }, () => {
      const address = server.address() as { readonly port: number }
      server.close(() => resolve(address.port))
    })
  })
}
