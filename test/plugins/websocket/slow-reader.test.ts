import { expect, test } from 'vitest'
import { Socket } from '../../../plugins/websocket/socket.ts'
import { Sockets } from '../../../plugins/websocket/sockets.ts'
import { memoryLogger } from '../../support/kernel.ts'

/** A socket over a connection with the waiting bytes that the test wants. */
function openSocket(mostBuffered: number) {
  const sockets = new Sockets({ pingInterval: false, closeTimeout: 10, maxSockets: 10, maxSocketsPerAddress: false })
  const route = {
    path: '/',
    handlers: { message() {} },
    read: (message: string | Uint8Array) => ({ ok: true, message }) as const,
    write: () => '',
    maxMessageSize: 1000,
    measures: false,
    messagesPerSecond: false as const,
    maxBuffered: 100,
    mostBuffered,
    server: {},
    extension: undefined,
    slowReaders: 'wait' as const,
    compression: false,
    origins: 'same' as const,
    sockets,
    log: memoryLogger(),
  }
  const socket = new Socket(route, { data: undefined, params: {}, ip: '127.0.0.1', protocol: '' })
  const wire = {
    waiting: 0,
    closes: [] as number[],
    getBufferedAmount: () => wire.waiting,
    send() {},
    close: (code: number) => void wire.closes.push(code),
    terminate: () => socket.closed(1006, ''),
  }
  sockets.add(socket)
  socket.opened(wire)
  return { socket, wire }
}

test('a client that pings and never reads the answers is closed above its limit of waiting bytes', () => {
  const { socket, wire } = openSocket(800)
  wire.waiting = 800
  socket.controlled('ping')
  expect(wire.closes).toEqual([])
  wire.waiting = 801
  socket.controlled('pong')
  expect(wire.closes).toEqual([])
  socket.controlled('ping')
  expect(wire.closes).toEqual([1013])
  socket.terminate()
})
