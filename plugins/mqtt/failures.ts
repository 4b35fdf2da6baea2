import type { Logger, Thrown } from '../../kernel/index.ts'
import { globalHandler, notify } from '../shared/work/attempt.ts'

/** A failure of a handler or a subscription. */
export interface MqttFailure {
  /** The topic or the pattern that the handler is subscribed to. */
  readonly subscription: string
  /** The topic of the message; `undefined` when the subscription itself failed. */
  readonly topic: string | undefined
  /** The bytes of the message, as they came. */
  readonly payload: Uint8Array | undefined
}

/** Called with what handlers throw, and for subscriptions that fail. */
export type MqttErrorHandler = { handle(error: Thrown, failure: MqttFailure): unknown }['handle']

let global: MqttErrorHandler | undefined

/**
 * Sets the function that is called, instead of the log, for every handler in the process that throws or rejects; `undefined`
 * removes it.
 *
 * @example
 * setMqttGlobalErrorHandler((error, { topic }) => console.error(`a message of ${topic} failed`, error))
 */
export function setMqttGlobalErrorHandler(handler: MqttErrorHandler | undefined): void {
  global = globalHandler('setMqttGlobalErrorHandler', handler)
}

/** Reports one failure once: to the error handler of the process, otherwise to the log. Never throws. */
export async function notifyFailure(
  error: unknown,
  failure: MqttFailure,
  log: Logger,
  timeout?: number,
): Promise<void> {
  const { subscription, topic } = failure
  const handler = global
  const call = handler && (() => handler(error as Thrown, failure))
  const name = `the global error handler of MQTT for the subscription "${subscription}"`
  if (await notify(call, name, log, timeout)) return
  const what = topic === undefined ? 'failed' : 'failed to handle a message'
  log.error({ err: error, topic }, `the MQTT subscription "${subscription}" ${what}`)
}
