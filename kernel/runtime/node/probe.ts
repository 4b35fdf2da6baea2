import { executionAsyncResource } from 'node:async_hooks'
import { Buffer } from 'node:buffer'
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { detectRuntime } from '../../support/runtime-name.ts'
import { safely } from '../../support/safely.ts'
import { readBody } from './body.ts'
import type { DirectWriter, OpenResponse, OpenSocket, Sending } from './direct.ts'
import { areNodesOwn, directWriter, writeOnce } from './direct.ts'
import { type BodyReader, CollectingMessage, collectBody } from './message.ts'

/** Test responses whose bytes show how every part is written: small and large, ASCII and not. Each more is 1 % of a start. */
const samples = [
  {
    headers: ['content-type', 'text/plain', 'set-cookie', 'a=1', 'set-cookie', 'b=2', 'content-length', '2'],
    body: 'ok',
  },
  { headers: ['content-length', '32000'], body: 'ü'.repeat(16_000) },
]

let found: Promise<DirectWriter | undefined> | undefined

/**
 * The direct writer of this process; `undefined` where it may differ from the ordinary path.
 *
 * It relies on undocumented members. So answers are first sent both ways into a socket in memory: if a
 * byte, event or state differs, an exception is thrown or a member is missing, all responses use the ordinary path.
 */
export function findDirectWriter(): Promise<DirectWriter | undefined> {
  found ??= probe()
  return found
}

async function probe(): Promise<DirectWriter | undefined> {
  if (detectRuntime() !== 'node' || !areNodesOwn()) return undefined
  return (await isFaithful(writeOnce)) ? directWriter(writeOnce) : undefined
}

/** Whether responses that are sent this way are identical to those of `writeHead` and `end`. */
export async function isFaithful(send: Sending): Promise<boolean> {
  try {
    if (!('_hadError' in new Socket())) return false
    const write = directWriter(send)
    for (const { headers, body } of samples) {
      const ordinary = await record((response) => {
        response.writeHead(201, headers)
        response.end(body)
      })
      const direct = await record((response) => {
        if (!write(response, 201, headers, body)) throw new Error('it was refused')
      })
      if (direct !== ordinary) return false
    }
    return true
  } catch {
    return false
  }
}

/** Whether a socket shows the response that it belongs to, and a response announces how long its connection is kept if that is set. */
export function showsOwners(): boolean {
  if (detectRuntime() !== 'node') return false
  const found = safely(() => {
    const { socket, response } = open(() => {})
    const owned = socket._httpMessage === response
    response.writeHead(200, ['content-length', '0'])
    const announced = response._header?.includes('\r\nKeep-Alive: timeout=5\r\n')
    response.detachSocket(socket)
    return owned && announced && !socket._httpMessage
  })
  return found === true
}

/** Bodies as the parser passes them on: in pieces, with `null` at the end, or without it if the connection has gone. */
const bodies = [[null], ['a', 'b', 'c', null], ['a', 'bcd', 'e', null], ['a']] as const

let collects: Promise<boolean> | undefined

/** Whether bodies can be read without the stream of their message. Checked as {@link findDirectWriter} does. */
export function findCollecting(): Promise<boolean> {
  collects ??= detectRuntime() === 'node' && areNodesOwn() ? readsAlike(collectBody) : Promise.resolve(false)
  return collects
}

/** Whether bodies that are read in this way, and their messages, are identical to those that are read through events. */
export async function readsAlike(read: BodyReader): Promise<boolean> {
  const reads = [readBody, read].map((one) => Promise.all(bodies.map((pieces) => recordBody(one, pieces))))
  return Promise.all(reads).then(
    ([ordinary, own]) => ordinary!.join() === own!.join(),
    () => false,
  )
}

/** All observable data of one body and its message, as text. */
async function recordBody(read: BodyReader, pieces: readonly (string | null)[]): Promise<string> {
  const seen: unknown[] = []
  const message = new CollectingMessage(open(() => {}).socket)
  const body = read(message, 3, () => seen.push('left'))
  message.complete = pieces.includes(null)
  for (const piece of pieces) message.push(piece === null ? null : Buffer.from(piece))
  if (!message.complete) message.destroy()
  seen.push(await body.then(String, String))
  await ticks()
  const { destroyed, closed, aborted, readableEnded, readableLength, readableAborted, readableDidRead } = message
  seen.push(destroyed, closed, aborted, readableEnded, readableLength, readableAborted, readableDidRead)
  return seen.join(' ')
}

// Not setImmediate, which fake timers delay: there are only ticks between a write and its end.
async function ticks(): Promise<void> {
  for (let i = 0; i < 10; i++) await new Promise<void>((resolve) => process.nextTick(resolve))
}

/** All observable data of one response, as text. */
async function record(answer: (response: ServerResponse) => void): Promise<string> {
  const seen: string[] = []
  let bytes = ''
  const { socket, response } = open((chunk, encoding) => {
    bytes += (typeof chunk === 'string' ? Buffer.from(chunk, encoding) : Buffer.from(chunk)).toString('latin1')
  })
  const note = (what: string) => {
    const { finished, headersSent, writableEnded, writableFinished, statusCode, statusMessage } = response
    const { _headerSent, outputData } = response
    const state = [finished, headersSent, writableEnded, writableFinished, _headerSent, outputData.length]
    seen.push([what, ...state, statusCode, statusMessage].join(' '))
  }
  for (const event of ['prefinish', 'finish', 'close', 'error']) response.on(event, () => note(event))
  answer(response)
  note('answered')
  await ticks()
  note('later')
  response.detachSocket(socket)
  const date = /\r\nDate: \w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT\r\n/
  return `${bytes.replace(date, '\r\nDate\r\n')}\n${seen.join('\n')}`
}

/** A response on a socket in memory. */
function open(onWrite: (chunk: string | Uint8Array, encoding: BufferEncoding) => void): {
  socket: OpenSocket
  response: OpenResponse
} {
  const socket = new Duplex({
    decodeStrings: false,
    read() {},
    write(chunk: string | Uint8Array, encoding: BufferEncoding, done) {
      onWrite(chunk, encoding)
      done()
    },
  }) as OpenSocket
  const response = new ServerResponse(messageOn(socket, IncomingMessage)) as OpenResponse
  response._keepAliveTimeout = 5000
  response.assignSocket(socket)
  return { socket, response }
}

function messageOn(socket: Socket, Message: typeof IncomingMessage): IncomingMessage {
  const message = new Message(socket)
  return Object.assign(message, {
    method: 'GET',
    url: '/',
    httpVersion: '1.1',
    httpVersionMajor: 1,
    httpVersionMinor: 1,
  })
}

const kept: object[] = []

/**
 * Keeps one object of each kind that `node:http` makes for every request alive for the life of the process.
 *
 * V8 keeps the hidden class of such objects only while one of them exists. A full collection at a quiet moment, such as the end
 * of a boot, drops it; code that was optimised for the old class then sees a new one, and takes the generic path from then on.
 * Measured on a server that has collected once: 37 µs of CPU for a small response on Node 20, and 22 with these
 * objects; 38 and 23 on Node 22, 31 and 24 on Node 24, 25 and 20 on Node 26. Ticks alone account for a third of this.
 */
export function keepShapes(): void {
  if (kept.length > 0 || detectRuntime() !== 'node') return
  // A member that is missing is simply not kept.
  safely(() => {
    // A request and its response in their state when a request begins, on a socket without a connection.
    const message = messageOn(new Socket(), CollectingMessage)
    kept.push(message, new ServerResponse(message))
    // Two kinds of ticks. Not by a hook: once one was enabled, each `await` of the process costs 13 to 27 ns more.
    for (const args of [[], [undefined]]) process.nextTick(() => kept.push(executionAsyncResource()), ...args)
  })
}
