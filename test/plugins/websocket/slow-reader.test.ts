import { expect, test } from 'vitest'
import { Socket } from '../../../plugins/websocket/socket.ts'
import { Sockets } from '../../../plugins/websocket/sockets.ts'
import { memoryLogger } from '../../support/kernel.ts'

/** A socket over a connection with the waiting bytes that the test wants. */
function openSocket(bufferLimit: number) {
  const sockets = new Sockets({
    pingInterval: false as const,
    closeTimeout: 10,
    maxSockets: 10,
    maxSocketsPerAddress: false,
  })
  const route = {
    ...{ path: '/', plugin: 'application' },
    handlers: { message() {} },
    incoming: undefined,
    protocols: undefined,
    pingInterval: false as const,
    read: (message: string | Uint8Array) => ({ ok: true, message }) as const,
    write: () => '',
    maxMessageSize: 1000,
    measures: false,
    messagesPerSecond: false as const,
    maxBuffered: 100,
    bufferLimit,
    server: {},
    extension: undefined,
    slowReaders: 'wait' as const,
    compression: false,
    origins: 'same' as const,
    timeout: undefined,
    closeTimeout: 10,
    sockets,
    log: memoryLogger(),
  }
  const socket = new Socket(route, { data: undefined, params: {}, ip: '127.0.0.1', protocol: '' })
  const transport = {
    waiting: 0,
    closes: [] as number[],
    getBufferedAmount: () => transport.waiting,
    send() {},
    close: (code: number) => void transport.closes.push(code),
    terminate: () => socket.closed(1006, ''),
  }
  sockets.add(socket)
  socket.opened(transport)
  return { socket, transport }
}

test('a client that pings and never reads the responses is closed above its limit of waiting bytes', () => {
  const { socket, transport } = openSocket(800)
  transport.waiting = 800
  socket.controlled('ping')
  expect(transport.closes).toEqual([])
  transport.waiting = 801
  socket.controlled('pong')
  expect(transport.closes).toEqual([])
  socket.controlled('ping')
  expect(transport.closes).toEqual([1013])
  socket.terminate()
})
