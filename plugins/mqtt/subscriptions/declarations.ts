import { OptionError } from '../../../kernel/index.ts'
import type { SettingsOf } from '../../shared/options/index.ts'
import { type MqttSubscribeOptions, subscribeOptions } from '../messages/message-options.ts'
import { type CheckMessage, messageCheck } from '../messages/payload.ts'
import { type Filter, parseFilter } from '../topics/filter.ts'

/** A subscription that was declared: by a call, or by a method of a class. */
export interface Declared {
  readonly filter: Filter
  readonly options: SettingsOf<typeof subscribeOptions>
  readonly check: CheckMessage | undefined
  readonly handler: (...args: readonly unknown[]) => unknown
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
