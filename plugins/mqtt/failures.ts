import type { Logger, Thrown } from '../../kernel/index.ts'

/** What failed. */
export interface MqttFailure {
  /** As it was subscribed to. */
  readonly subscription: string
  /** Of the message; `undefined` when the subscription itself failed. */
  readonly topic: string | undefined
  /** As it came. */
  readonly payload: Uint8Array | undefined
}

/** Told of what handlers throw, and of subscriptions that fail. */
export type MqttErrorHandler = { handle(error: Thrown, failure: MqttFailure): unknown }['handle']

let globalHandler: MqttErrorHandler | undefined

/**
 * Sets what is told of every handler that throws or rejects, in place of the log, for the whole process; `undefined` takes it
 * back.
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

/** Tells one failure once: the handler of the process, else the log. Never throws. */
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
