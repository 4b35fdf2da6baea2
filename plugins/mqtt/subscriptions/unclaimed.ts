import { clock, type Logger, type Timer } from '../../../kernel/index.ts'
import type { Incoming } from '../links/contract.ts'

/** How long a message of an earlier session waits for its handler. */
const patience = 5_000

/**
 * Keeps messages that a broker had stored for this client and that come before their handlers: a process that connects first and
 * subscribes afterwards would acknowledge unhandled messages. The broker sends no more of them than the window allows.
 *
 * @param hasSession Whether the broker keeps sessions of this client.
 */
export function unclaimedMessages(log: Logger, hasSession: boolean) {
  let messages: Incoming[] = []
  let isOpen = hasSession
  let timer: Timer | undefined

  const giveUp = () => {
    isOpen = false
    const topics = [...new Set(messages.map((message) => message.details.topic))]
    if (topics.length > 0) {
      const fields = { topics: topics.slice(0, 10), count: messages.length }
      log.warn(fields, 'messages of an earlier MQTT session have no handler: they are dropped')
    }
    for (const message of messages.splice(0)) message.handled()
  }
  return {
    /** Keeps a message that has no handler, if one may still come. */
    keep(message: Incoming): void {
      if (!isOpen || message.details.qos === 0) return void message.handled()
      messages.push(message)
      timer ??= clock.setTimeout(giveUp, patience)
      timer.unref()
    },
    /** Offers the kept messages to a new handler. */
    offer(give: (message: Incoming) => boolean): void {
      messages = messages.filter((message) => !give(message))
    },
    close(): void {
      clock.clear(timer)
      isOpen = false
      messages = []
    },
  }
}
