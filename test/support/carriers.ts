import { tracingChannel } from 'node:diagnostics_channel'

const follow = (kind: string, listener: (event: never) => void): (() => void) => {
  const { start } = tracingChannel(`framework:${kind}`)
  start.subscribe(listener as never)
  return () => void start.unsubscribe(listener as never)
}

/** Adds these to the carrier of each publication from now on, as a tracing tool does; returns a function that ends that. */
export function fillCarriers(carrier: object, kind = 'queue.publish'): () => void {
  return follow(kind, (event: { carrier: object }) => void Object.assign(event.carrier, carrier))
}

/** The carriers of the attempts at the messages of a queue. */
export function followAttempts(queue: string): { readonly seen: unknown[]; end(): void } {
  const seen: unknown[] = []
  const end = follow('queue.attempt', (event: { queue: string; carrier: unknown }) => {
    if (event.queue === queue) seen.push(event.carrier)
  })
  return { seen, end }
}

/** The carriers of the messages of a topic, one for each handler. */
export function followMessages(topic: string): { readonly seen: unknown[]; end(): void } {
  const seen: unknown[] = []
  const end = follow('mqtt.message', (event: { topic: string; carrier: unknown }) => {
    if (event.topic === topic) seen.push(event.carrier)
  })
  return { seen, end }
}
