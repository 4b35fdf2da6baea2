import { toJson } from '../../../kernel/http/response/json.ts'
import type { SseMessage } from '../../../kernel/http/response/response.ts'
import type { Bodies, KernelResponse } from '../../../kernel/http/response/response-buffer.ts'
import { isStream } from '../../../kernel/http/streams.ts'
import { mediaType } from './media-types.ts'
import { download, sendFile } from './sent-file.ts'
import { discard, sendObject } from './web-body.ts'

/** What every server can respond with besides JSON, strings, bytes and streams. */
export const bodies: Bodies = { mediaType, sendObject, discard, sendFile, download, sendEvents }

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

/** Sends a sequence of events. */
function sendEvents<Res extends KernelResponse>(res: Res, events: AsyncIterable<string | SseMessage>): Res {
  if (!isStream(events)) throw new TypeError('res.sse takes an async iterable of events, an async generator for one')
  if (!res.answered) {
    res.setHeader('content-type', 'text/event-stream; charset=utf-8')
    res.setHeader('cache-control', 'no-cache')
    // nginx would hold events back until its buffer is full.
    res.setHeader('x-accel-buffering', 'no')
  }
  return res.answer('stream', encoded(events))
}

/** The wire form of a sequence of events. */
async function* encoded(events: AsyncIterable<string | SseMessage>): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder()
  // Bun sends the head with the first chunk: without a chunk, a client would not know that it is connected.
  if ('Bun' in globalThis) yield encoder.encode(':\n\n')
  for await (const event of events) yield encoder.encode(encode(event))
}
