import { Declarations, type Runner } from '../../shared/work/declarations.ts'
import { Mounts } from '../../shared/work/mounts.ts'
import type { MqttApi } from '../api.ts'
import type { Declared } from './declarations.ts'

/** The service of a server or of a script, as what is declared uses it. */
export interface Connection extends Runner<Declared>, Pick<MqttApi, 'publish'> {
  readonly handles: boolean
  subscriptions(): readonly Declared[]
  report(error: unknown): void
}

/** The subscriptions of this process: each server handles all of them on its own connection. */
export const declarations = new Declarations<Declared, Connection>()

/** The servers with a connection, connected or not. */
export const servers = new Mounts<Connection>('Say which: server.services.mqtt.publish(topic, message)')

/** The connections of servers and scripts that are connected or about to be, oldest first. Closing ones come last: their handlers still publish. */
const current = new Set<Connection>()

/** Every subscription of a server with these of its own. */
export const subscriptionsOf = (
  { isOn, listed }: { readonly isOn: boolean; readonly listed: Iterable<Declared> },
  server: object | undefined,
): Declared[] => (isOn ? [...listed, ...declarations.of(server)] : [])

const isScript = ({ server }: Connection) => server === undefined

/** Whether any service of this process handles subscriptions, or will. */
export const isServed = (): boolean => servers.size > 0 || current.size > 0

/**
 * The connection through which a call publishes: that of the server whose hook, request or job is running, else of the only server. While that
 * one is not connected, as under `inject`, that of the script.
 *
 * @throws WorkServerError if it could be that of several servers.
 */
export function connectionFor(what: string): Connection | undefined {
  const script = [...current].find(isScript)
  // A script does not have to say which server it means while none is connected.
  if (script !== undefined && [...current].every(isScript)) return script
  const own = servers.current(what)
  return own !== undefined && current.has(own) ? own : script
}

/** Whether a script handles what is declared: not beside a server, and only the oldest of several. */
export const isFirst = (script: Connection): boolean => !declarations.runners.some(isServer) && oldest() === script

const isServer = (one: Connection) => !isScript(one)
const oldest = () => declarations.runners[0]

/** Lets publications use a connection that handles no subscriptions yet. */
export const announce = (connection: Connection): unknown => current.add(connection)

export async function open(connection: Connection): Promise<void> {
  announce(connection)
  if (connection.handles) await declarations.open(connection)
}

/** A server that is connected handles from now on what scripts have handled. */
export async function takeOver(connection: Connection): Promise<void> {
  if (isScript(connection) || !connection.handles) return
  for (const script of declarations.runners.filter(isScript)) {
    declarations.leave(script)
    declarations.join(script)
    await Promise.all(declarations.all.map((declared) => script.drop(declared)))
  }
}

/** Ends the subscriptions of a connection; a script continues if it was the last of a server. */
export function leave(connection: Connection): void {
  declarations.leave(connection)
  if (current.delete(connection)) current.add(connection)
  const next = oldest()
  if (next !== undefined && isFirst(next)) declarations.takeFree(next).catch((error: unknown) => next.report(error))
}

export const close = (connection: Connection): unknown => current.delete(connection)
