import { Declarations, type Runner } from '../../shared/work/declarations.ts'
import type { MqttPublishOptions, MqttSubscribeOptions } from '../messages/message-options.ts'
import type { CheckMessage } from '../messages/schema.ts'
import type { Filter } from '../topics/filter.ts'

/** A subscription that was declared: by a call, or by a method of a class. */
export interface Declared {
  readonly filter: Filter
  readonly options: MqttSubscribeOptions
  readonly check: CheckMessage | undefined
  readonly handler: (...args: readonly unknown[]) => unknown
}

/** A connection; if it only publishes, it takes no subscription. `adopt` resolves once the broker has accepted it or is unavailable. */
export interface Connection extends Runner<Declared> {
  drop(declared: Declared): Promise<void>
  publish(topic: string, message: unknown, options?: MqttPublishOptions): Promise<void>
}

/** The subscriptions of this process: each runs in one connection. */
export const declarations = new Declarations<Declared, Connection>()

/** All connections, oldest first, including closing ones, through which their handlers still publish. */
const connections: Connection[] = []

/** The connection through which this process publishes. */
export const publisher = (): Connection | undefined => declarations.runners[0] ?? connections[0]

/** Lets publications use a connection that cannot take over subscriptions yet. */
export function announceConnection(connection: Connection): void {
  if (!connections.includes(connection)) connections.push(connection)
}

export function openConnection(connection: Connection): Promise<void> {
  announceConnection(connection)
  return declarations.open(connection)
}

export function closeConnection(connection: Connection): void {
  const index = connections.indexOf(connection)
  if (index !== -1) connections.splice(index, 1)
}

export async function withdraw(declared: Declared): Promise<void> {
  await declarations.remove(declared)?.drop(declared)
}
