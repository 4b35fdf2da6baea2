import { AssertionError } from 'node:assert'
import { type Inject, systemClock, within } from '../../kernel/index.ts'
import type { LinkedPeer, LinkedServer } from '../shared/http/linked-socket.ts'
import { option } from '../shared/options/index.ts'
import type { Json } from '../shared/values/json.ts'
import { deferred } from '../shared/values/promises.ts'
import { safely } from '../shared/values/safely.ts'
import { isSubset } from '../shared/values/subset.ts'
import { shorten, show } from './content.ts'
import { common, type MockOptions } from './options.ts'
import { MockResponse } from './response.ts'

/** Options for opening a websocket in a test. */
export interface MockSocketOptions extends Pick<MockOptions<never, Json>, 'headers' | 'query' | 'cookies' | 'ip'> {
  /** The sub-protocols that the client offers. */
  protocols?: readonly string[]
}

export const mockSocketOptions = option
  .shape({ ...common, protocols: option.list(option.name()) })
  .into((given) => given as MockSocketOptions)
  .typed<MockSocketOptions>()

/** How a websocket ended: the code of RFC 6455 section 7.4, and the reason. */
export interface MockClose {
  /** The code; 1005 if none was sent. */
  readonly code: number
  /** The reason that was sent with it; `''` without one. */
  readonly reason: string
}

/** How long to wait for a message, in milliseconds: as long as a busy machine needs, and less than the five seconds after which runners end a test. */
const patience = 4000

/**
 * The client's end of an in-process websocket. If the server has refused it, it has a `response` and is not open.
 *
 * @example
 * const socket = await server.inject.ws('/chat')
 * socket.send({ type: 'say', data: 'hello' })
 * await socket.assertNext({ type: 'said', data: 'hello' })
 * await socket.close()
 */
export class MockSocket {
  /** The response of the server: 101, or a refusal. */
  readonly response: MockResponse
  /** The sub-protocol that the server chose; `''` without one. */
  readonly protocol: string
  /** Resolves when the connection has ended; immediately if it was refused. */
  readonly ended: Promise<MockClose>
  readonly #link: Link

  constructor(response: MockResponse, link: Link) {
    this.response = response
    this.protocol = link.protocol
    this.#link = link
    this.ended = link.ended
  }

  /** Whether messages can be sent. */
  get isOpen(): boolean {
    return this.#link.isOpen
  }

  /** All messages so far: JSON objects and lists are parsed, other text is a string, bytes are bytes. */
  received(): readonly unknown[] {
    return this.#link.messages
  }

  /** Sends strings and bytes as they are, anything else as JSON. */
  send(message: string | Uint8Array | object): this {
    this.assertOpen()
    const isFrame = typeof message === 'string' || message instanceof Uint8Array
    this.#link.server!.send(isFrame ? message : JSON.stringify(message))
    return this
  }

  /** The next message that has not been returned yet; rejects if the socket ends, or no message arrives within four seconds. */
  next<Message = unknown>(): Promise<Message> {
    return this.#link.next() as Promise<Message>
  }

  /** Asserts that the next message has these members, or is this string. Resolves to the message. */
  async assertNext<Message = unknown>(expected: unknown): Promise<Message> {
    const actual = await this.next()
    if (isSubset(actual, expected)) return actual as Message
    const message = `expected the next message to be ${show(expected)}, got ${show(actual)}`
    throw new AssertionError({ message, actual, expected, operator: 'assertNext' })
  }

  /** Asserts that the socket is open. */
  assertOpen(): this {
    if (this.isOpen) return this
    const status = this.response.statusCode()
    const end = this.#link.end
    const why =
      status !== 101
        ? `it was refused with ${status}: ${shorten(this.response.text())}`
        : `it has ended with ${show(end)}`
    const message = `expected an open websocket, but ${why}`
    throw new AssertionError({ message, actual: end ?? status, expected: 101, operator: 'assertOpen' })
  }

  /** Asserts that the server has refused the connection with this status. */
  assertRefused(status: number): this {
    this.response.assertStatus(status)
    return this
  }

  /** Asserts that the connection has ended, or ends within four seconds, with this code. */
  async assertEnded(code: number): Promise<MockClose> {
    const end = await this.#link.inTime(this.ended, 'the end of the websocket')
    if (end.code === code) return end
    const message = `expected the websocket to end with ${code}, got ${show(end)}`
    throw new AssertionError({ message, actual: end.code, expected: code, operator: 'assertEnded' })
  }

  /** Closes the client's side; resolves when the server's side has ended. */
  close(code = 1000, reason = ''): Promise<MockClose> {
    this.#link.server?.close(code, reason)
    return this.ended
  }
}

/** The client's end of the connection. */
class Link implements LinkedPeer {
  readonly messages: unknown[] = []
  server: LinkedServer | undefined
  protocol = ''
  end: MockClose | undefined
  /** How many messages `next` has returned. */
  #given = 0
  /** The calls of `next` that wait, by the number of their message. */
  readonly #waiting = new Map<number, () => void>()
  readonly #ended = deferred<MockClose>()
  /** Resolves when the connection is open, or has ended. */
  readonly ready = deferred()
  readonly ended = this.#ended.promise

  get isOpen(): boolean {
    return this.server !== undefined && this.end === undefined
  }

  opened(server: LinkedServer, protocol: string): void {
    this.server = server
    this.protocol = protocol
    this.ready.resolve()
  }

  received(message: string | Uint8Array): void {
    this.#waiting.get(this.messages.push(contentOf(message)) - 1)?.()
  }

  closed(code: number, reason: string): void {
    this.end = { code, reason }
    this.#ended.resolve(this.end)
    this.ready.resolve()
  }

  async next(): Promise<unknown> {
    const at = this.#given++
    if (this.messages.length <= at) {
      const arrived = new Promise<void>((resolve) => void this.#waiting.set(at, resolve))
      await this.inTime(Promise.race([arrived, this.ended]), 'a message')
    }
    if (this.messages.length > at) return this.messages[at]
    throw new AssertionError({ message: `expected a message, but the websocket has ended with ${show(this.end)}` })
  }

  inTime<Value>(promise: Promise<Value>, what: string): Promise<Value> {
    const late = () => {
      const message = `expected ${what} within ${patience} ms; received so far: ${show(this.messages)}`
      throw new AssertionError({ message })
    }
    return within(promise, patience, late, systemClock)
  }
}

function contentOf(message: string | Uint8Array): unknown {
  if (typeof message !== 'string' || !/^\s*[{[]/.test(message)) return message
  return safely(() => JSON.parse(message), message)
}

/** The headers of an opening handshake (RFC 6455 section 4.1). */
function handshake(protocols: readonly string[] | undefined) {
  return {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    ...(protocols && { 'sec-websocket-protocol': protocols.join(', ') }),
  }
}

/** Opens a websocket through the whole pipeline, without a network socket. */
export async function openMockSocket(
  inject: Inject,
  url: string,
  headers: Readonly<Record<string, string | number | readonly string[] | undefined>>,
  { protocols, ip }: MockSocketOptions,
): Promise<MockSocket> {
  const link = new Link()
  const answer = await inject({ url, headers: { ...handshake(protocols), ...headers }, ip, peer: link })
  const response = new MockResponse(`GET ${url}`, answer)
  if (answer.status === 101) await link.ready.promise
  else link.closed(1006, '')
  return new MockSocket(response, link)
}
