import type { Logger, Thrown } from '../../kernel/index.ts'

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

let globalHandler: MqttErrorHandler | undefined

/**
 * Sets the function that is called, instead of the log, for every handler in the process that throws or rejects; `undefined`
 * removes it.
 *
 * @example
 * setMqttGlobalErrorHandler((error, { topic }) => console.error(`a message of ${topic} failed`, error))
 */
export function setMqttGlobalErrorHandler(handler: MqttErrorHandler | undefined): void {
  if (handler !== undefined && typeof handler !== 'function') {
    throw new TypeError('setMqttGlobalErrorHandler takes a function, or undefined')
  }
  globalHandler = handler
}

/** Reports one failure once: to the error handler of the process, otherwise to the log. Never throws. */
export async function notifyFailure(error: unknown, failure: MqttFailure, log: Logger): Promise<void> {
  const { subscription, topic } = failure
  if (globalHandler === undefined) {
    const what = topic === undefined ? 'failed' : 'failed to handle a message'
    log.error({ err: error, topic }, `the MQTT subscription "${subscription}" ${what}`)
    return
  }
  try {
    await globalHandler(error as Thrown, failure)
  } catch (second) {
    log.error(
      { err: second, topic },
      `the global error handler of MQTT itself failed for the subscription "${subscription}"`,
    )
  }
}
