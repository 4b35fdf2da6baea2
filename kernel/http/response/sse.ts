import { toJson } from './json.ts'

/** One server-sent event; `data` other than a string is sent as JSON. */
export interface SseMessage {
  /** The payload; a string is sent line by line, anything else as JSON. */
  data: unknown
  /** The type that the client listens for; `message` if it is left out. */
  event?: string
  /** What a client that reconnects sends back as `Last-Event-ID`. */
  id?: string
  /** Milliseconds after which the client reconnects. */
  retry?: number
}

/** A line break in a field, even a single CR, would let its text forge the next field or event. */
function oneLine(text: string): string {
  return text.replace(/[\r\n\0]+/g, ' ')
}

function encode(message: string | SseMessage): string {
  const { data, event, id, retry } = typeof message === 'string' ? { data: message } : (message as SseMessage)
  let text = ''
  if (event !== undefined) text += `event: ${oneLine(event)}\n`
  if (id !== undefined) text += `id: ${oneLine(id)}\n`
  if (retry !== undefined) text += `retry: ${Math.trunc(retry)}\n`
  const body = typeof data === 'string' ? data : data === undefined ? '' : toJson(data)
  for (const line of body.split(/\r\n|\r|\n/)) text += `data: ${line}\n`
  return `${text}\n`
}

/** The wire form of a sequence of events. */
export async function* serverSentEvents(events: AsyncIterable<string | SseMessage>): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder()
  // Bun sends the head with the first chunk: without a chunk, a client would not know that it is connected.
  if ('Bun' in globalThis) yield encoder.encode(':\n\n')
  for await (const event of events) yield encoder.encode(encode(event))
}
