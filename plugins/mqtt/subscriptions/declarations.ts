import { OptionError } from '../../../kernel/index.ts'
import { Declarations, type Runner } from '../../shared/work/declarations.ts'
import { Running } from '../../shared/work/running.ts'
import { type MqttPublishOptions, type MqttSubscribeOptions, subscribeOptions } from '../messages/message-options.ts'
import { type CheckMessage, messageCheck } from '../messages/payload.ts'
import { type Filter, parseFilter } from '../topics/filter.ts'

/** A subscription that was declared: by a call, or by a method of a class. */
export interface Declared {
  readonly filter: Filter
  readonly options: MqttSubscribeOptions
  readonly check: CheckMessage | undefined
  readonly handler: (...args: readonly unknown[]) => unknown
  /** Its calls through all connections: one that takes it over respects `concurrency` while those of the last one continue. */
  readonly running: Running
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

/** The subscription of one handler. */
export interface MqttSubscription {
  /** The topic or the pattern that was subscribed to. */
  readonly topic: string
  /**
   * Removes this handler; its running calls continue. The broker is informed if no other handler has the same topic.
   */
  unsubscribe(): Promise<void>
}

/**
 * A subscription, usable as soon as it is declared. Awaited, it resolves when the broker has accepted it, or immediately while the
 * broker cannot be asked; a later refusal goes to the global error handler.
 */
export type MqttHandle = Promise<MqttSubscription> & MqttSubscription

type AnyHandler = (...args: readonly never[]) => unknown

/** @throws MqttTopicError, OptionError */
export function declarationOf(topic: string, handler: AnyHandler, given?: MqttSubscribeOptions): Declared {
  const filter = parseFilter(topic)
  if (typeof handler !== 'function') throw OptionError('mqtt.subscribe (the handler)', handler, 'a function')
  const options = subscribeOptions.parse(given, 'mqtt.subscribe')
  return {
    filter,
    options,
    check: options.schema === undefined ? undefined : messageCheck(options.schema),
    handler: handler as Declared['handler'],
    running: new Running(),
  }
}

/** A handle, and a promise of one. */
export function handleOf(declared: Declared, made: Promise<void>, unsubscribe: () => Promise<void>): MqttHandle {
  const subscription: MqttSubscription = { topic: declared.filter.text, unsubscribe }
  const promise = made.then(() => subscription)
  // A subscription made while a module loads is not awaited; an unhandled rejection would end the process.
  promise.catch(() => {})
  return Object.assign(promise, subscription)
}
