import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { exactCpuTime, residentMemory } from '../support/machine.ts'
import { shuffled } from '../support/statistics.ts'
import type { Exchange } from './probe.ts'
import type { LoadSettings } from './schedule.ts'
import { ServerProcess, type Subject } from './server-process.ts'

export interface SocketSeries {
  readonly name: string
  /** Resident kB per socket, one value per process. */
  readonly memory: number[]
  /** CPU µs per message of a broadcast, one value per slice. */
  readonly cost: number[]
}

/** How many sockets a server has. */
export const socketCount = 5000

/** Sockets that are open before a server's memory is first read: code that a server loads and compiles is not part of a socket. */
const firstSockets = 1000

/**
 * Every server keeps all of its sockets the whole time. The servers take turns, in a new order every round: one at a time sends a
 * message to each of its sockets once a second. Memory is read after a full collection; it is what the sockets after the first 1000 take.
 */
export async function measureSockets(
  subjects: readonly Subject[],
  exchange: Exchange,
  { generations, rounds, seconds, runtime }: LoadSettings,
): Promise<SocketSeries[]> {
  const series = subjects.map(({ name }): SocketSeries => ({ name, memory: [], cost: [] }))
  for (let generation = 0; generation < generations; generation++) {
    const all: { readonly server: ServerProcess; readonly audience: Audience; readonly own: SocketSeries }[] = []
    try {
      for (const [i, subject] of subjects.entries()) {
        const server = await ServerProcess.startSettled(subject, exchange, runtime)
        const audience = new Audience(server.port)
        all.push({ server, audience, own: series[i]! })
        const memoryWith = async (count: number) => {
          await audience.grow(count)
          for (let i = 0; i < 3; i++) await audience.broadcast()
          await server.collect()
          return residentMemory(server.pid)
        }
        const before = await memoryWith(firstSockets)
        series[i]!.memory.push(((await memoryWith(socketCount)) - before) * (1024 / (socketCount - firstSockets)))
      }
      for (let round = 0; round < rounds; round++) {
        for (const { server, audience, own } of shuffled(all)) {
          const before = exactCpuTime(server.pid)
          for (let i = 0; i < seconds; i++) await Promise.all([audience.broadcast(), pause(1000)])
          own.cost.push(((exactCpuTime(server.pid) - before) * 1000) / (seconds * socketCount))
        }
      }
    } finally {
      for (const { server, audience } of all) {
        audience.leave()
        await server.stop()
      }
    }
  }
  return series
}

/** Opens a few sockets, and expects a message on each. */
export async function checkSockets(subjects: readonly Subject[], exchange: Exchange, runtime: LoadSettings['runtime']) {
  await Promise.all(
    subjects.map(async (subject) => {
      const server = await ServerProcess.start(subject, exchange, { runtime })
      const audience = new Audience(server.port)
      try {
        await audience.grow(3)
        await audience.broadcast()
      } finally {
        audience.leave()
        await server.stop()
      }
    }),
  )
}

/** Clients that count bytes and do nothing else, since they run alongside the measured server. */
class Audience {
  readonly #port: number
  readonly #sockets: Socket[] = []
  #received = 0
  #length = 0
  #onBytes: () => void = () => {}

  constructor(port: number) {
    this.#port = port
  }

  async grow(count: number): Promise<void> {
    while (this.#sockets.length < count) {
      const step = Math.min(100, count - this.#sockets.length)
      this.#sockets.push(...(await Promise.all(Array.from({ length: step }, () => this.#open()))))
    }
  }

  #open(): Promise<Socket> {
    return new Promise((resolve, reject) => {
      const socket = connect(this.#port, '127.0.0.1').setNoDelay()
      socket.once('error', reject)
      socket.write(
        'GET /socket HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
      )
      socket.once('data', (head) => {
        if (!head.toString('latin1').startsWith('HTTP/1.1 101')) reject(new Error(`a websocket was refused: ${head}`))
        socket.on('data', (data: Buffer) => {
          // A frame from a server has no mask: its second byte is the length of a short message.
          this.#length ||= 2 + data[1]!
          this.#received += data.length
          this.#onBytes()
        })
        resolve(socket)
      })
    })
  }

  /** Has the server send a message to each socket, and resolves when all have arrived. */
  async broadcast(): Promise<void> {
    this.#received = 0
    const all = new Promise<void>((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(`${this.#received} bytes of a broadcast came in 20 s`)), 20_000)
      this.#onBytes = () => {
        if (this.#received < this.#length * this.#sockets.length) return
        clearTimeout(late)
        resolve()
      }
    })
    const response = await fetch(`http://127.0.0.1:${this.#port}/send`)
    await Promise.all([response.arrayBuffer(), all])
  }

  leave(): void {
    for (const socket of this.#sockets) socket.destroy()
  }
}
