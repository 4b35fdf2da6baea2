import { defineErrors, type FrameworkError, withCause } from '../support/errors.ts'

export const { PortInUseError, PortForbiddenError, HostUnavailableError, ListenError } = defineErrors({
  PortInUseError: (host: string, port: number) =>
    `${host}:${port} is in use by another process; stop that process, or choose another port (option port or PORT; 0 takes a free one)`,
  PortForbiddenError: (host: string, port: number) =>
    `this process may not listen on ${host}:${port}; choose a port above 1023, or give the process the right to bind low ports`,
  HostUnavailableError: (host: string, port: number) =>
    `cannot listen on ${host}:${port}, because ${host} is not an address of this machine; use 0.0.0.0, ::, 127.0.0.1 or one of its addresses (option host or HOST)`,
  ListenError: (host: string, port: number, reason: string) => `cannot listen on ${host}:${port}: ${reason}`,
})

/** Node and Bun report the reason in `code`, Deno in the name of the error class. */
const factories = new Map([
  ['EADDRINUSE', PortInUseError],
  ['AddrInUse', PortInUseError],
  ['EACCES', PortForbiddenError],
  ['PermissionDenied', PortForbiddenError],
  ['EADDRNOTAVAIL', HostUnavailableError],
  ['ENOTFOUND', HostUnavailableError],
  ['EAI_AGAIN', HostUnavailableError],
  ['EAI_FAIL', HostUnavailableError],
  ['AddrNotAvailable', HostUnavailableError],
])

/** Turns a runtime's failure to bind into an error that names the address and the remedy. */
export function listenError(error: unknown, host: string, port: number): FrameworkError {
  const { code, name, message } = (error ?? {}) as { code?: string; name?: string; message?: string }
  const factory = factories.get(code ?? '') ?? factories.get(name ?? '')
  const framed = factory ? factory(host, port) : ListenError(host, port, message ?? String(error))
  return withCause(framed, error)
}
