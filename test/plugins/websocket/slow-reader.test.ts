import { describe, expect, test } from 'vitest'
import type { SlowReaders } from '../../../plugins/websocket/options.ts'
import { Socket } from '../../../plugins/websocket/socket.ts'
import { Sockets } from '../../../plugins/websocket/sockets.ts'
import { memoryLogger } from '../../support/kernel.ts'

/** A socket over a connection of which as much waits as the test says. */
function socketWith(slowReaders: SlowReaders) {
  const sockets = new Sockets({ pingInterval: false, closeTimeout: 10, maxSocketsPerAddress: false })
  const route = {
    path: '/',
    handlers: { message() {} },
    read: (message: string | Uint8Array) => ({ ok: true, message }) as const,
    write: () => '',
    maxMessageSize: 1000,
    measures: false,
    messagesPerSecond: false as const,
    maxBuffered: 100,
    slowReaders,
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

describe('a client that pings and never reads the answers', () => {
  test.each([
    ['close', 101],
    ['drop', 801],
    ['wait', 801],
  ] as const)('is closed, with "%s" above %d bytes', (slowReaders, most) => {
    const { socket, wire } = socketWith(slowReaders)
    wire.waiting = most - 1
    socket.controlled('ping')
    expect(wire.closes).toEqual([])
    wire.waiting = most
    socket.controlled('pong')
    expect(wire.closes).toEqual([])
    socket.controlled('ping')
    expect(wire.closes).toEqual([1013])
    socket.terminate()
  })
})
