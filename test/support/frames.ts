import { randomBytes } from 'node:crypto'
import { connect, type Socket } from 'node:net'

export const opcodes = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const

/** One frame of RFC 6455 section 5.2, valid or invalid. */
export interface Frame {
  readonly opcode: number
  readonly payload?: string | Uint8Array
  /** Default true: the last of its message. */
  readonly fin?: boolean
  /** The three reserved bits, as a number. */
  readonly reserved?: number
  /** Default true. */
  readonly masked?: boolean
  /** Sent in the place of the real one. */
  readonly length?: number
}

export const text = (payload: string | Uint8Array, more: Partial<Frame> = {}): Frame => ({
  opcode: opcodes.text,
  payload,
  ...more,
})
export const binary = (payload: Uint8Array, more: Partial<Frame> = {}): Frame => ({
  opcode: opcodes.binary,
  payload,
  ...more,
})
export const more = (payload: string | Uint8Array, fin = true): Frame => ({
  opcode: opcodes.continuation,
  payload,
  fin,
})
export const ping = (payload: string | Uint8Array = ''): Frame => ({ opcode: opcodes.ping, payload })
export const pong = (payload: string | Uint8Array = ''): Frame => ({ opcode: opcodes.pong, payload })

/** A close frame; without a code an empty one. */
export function close(code?: number, reason: string | Uint8Array = ''): Frame {
  if (code === undefined) return { opcode: opcodes.close }
  return { opcode: opcodes.close, payload: Buffer.concat([Buffer.from([code >> 8, code & 255]), Buffer.from(reason)]) }
}

export function encode({ opcode, payload = '', fin = true, reserved = 0, masked = true, length }: Frame): Buffer {
  const bytes = Buffer.from(payload as string)
  const size = length ?? bytes.length
  const extended = size < 126 ? 0 : size < 65_536 ? 2 : 8
  const head = Buffer.alloc(2 + extended)
  head[0] = (fin ? 128 : 0) | (reserved << 4) | opcode
  head[1] = (masked ? 128 : 0) | (extended === 0 ? size : extended === 2 ? 126 : 127)
  if (extended === 2) head.writeUInt16BE(size, 2)
  if (extended === 8) head.writeBigUInt64BE(BigInt(size), 2)
  if (!masked) return Buffer.concat([head, bytes])
  const mask = randomBytes(4)
  const hidden = Buffer.from(bytes)
  for (let i = 0; i < hidden.length; i++) hidden[i]! ^= mask[i % 4]!
  return Buffer.concat([head, mask, hidden])
}

/** The response: frames in order, and how the connection ended. */
export interface Exchange {
  readonly status: number
  readonly head: string
  readonly frames: readonly { readonly opcode: number; readonly payload: Buffer; readonly fin: boolean }[]
  /** The code of the close frame; 1005 for an empty one, `undefined` where none came. */
  readonly closedWith: number | undefined
  /** Whether the server ended the connection. */
  readonly ended: boolean
  /** The body of a refusal. */
  readonly refusal: string
}

/** A client that sends exactly the given frames. */
export class FrameClient {
  readonly socket: Socket
  readonly #opened: Promise<void>
  #head = ''
  #received: Buffer = Buffer.alloc(0)
  #ended = false
  #changed: () => void = () => {}

  constructor(port: number, path: string, headers: Readonly<Record<string, string>> = {}) {
    const all: Readonly<Record<string, string>> = {
      Host: `127.0.0.1:${port}`,
      Connection: 'Upgrade',
      Upgrade: 'websocket',
      'Sec-WebSocket-Version': '13',
      'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
      ...headers,
    }
    this.socket = connect(port, '127.0.0.1')
    this.socket.on('error', () => {})
    this.socket.write(
      `GET ${path} HTTP/1.1\r\n${Object.entries(all)
        .map(([name, value]) => `${name}: ${value}\r\n`)
        .join('')}\r\n`,
    )
    this.#opened = new Promise((resolve) => {
      this.socket.on('data', (data) => {
        this.#received = Buffer.concat([this.#received, data])
        const end = this.#received.indexOf('\r\n\r\n')
        if (this.#head === '' && end !== -1) {
          this.#head = this.#received.subarray(0, end).toString('latin1')
          this.#received = this.#received.subarray(end + 4)
          resolve()
        }
        this.#changed()
      })
      this.socket.on('close', () => {
        this.#ended = true
        resolve()
        this.#changed()
      })
    })
  }

  /** Resolves when the server has answered the handshake. */
  opened(): Promise<void> {
    return this.#opened
  }

  send(...frames: readonly Frame[]): void {
    this.socket.write(Buffer.concat(frames.map(encode)))
  }

  /** Waits for a number of frames, a close frame or the end of the connection; by default at most half a minute. */
  async until(count: number, ms = 30_000): Promise<Exchange> {
    const late = Date.now() + ms
    while (Date.now() < late) {
      const { frames, closedWith, ended } = this.exchange()
      if (frames.length >= count || closedWith !== undefined || ended) break
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, 50)
        this.#changed = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
    return this.exchange()
  }

  exchange(): Exchange {
    const frames: { opcode: number; payload: Buffer; fin: boolean }[] = []
    let rest = this.#received
    while (rest.length >= 2) {
      const short = rest[1]! & 127
      const extended = short === 126 ? 2 : short === 127 ? 8 : 0
      if (rest.length < 2 + extended) break
      const size = extended === 0 ? short : extended === 2 ? rest.readUInt16BE(2) : Number(rest.readBigUInt64BE(2))
      if (rest.length < 2 + extended + size) break
      frames.push({
        fin: rest[0]! >> 7 === 1,
        opcode: rest[0]! & 15,
        payload: rest.subarray(2 + extended, 2 + extended + size),
      })
      rest = rest.subarray(2 + extended + size)
    }
    const status = Number(/^HTTP\/1.1 (\d+)/.exec(this.#head)?.[1] ?? 0)
    const closed = frames.find(({ opcode }) => opcode === opcodes.close)
    const closedWith = closed && (closed.payload.length < 2 ? 1005 : closed.payload.readUInt16BE(0))
    return {
      status,
      head: this.#head,
      frames: frames.filter(({ opcode }) => opcode !== opcodes.close),
      closedWith,
      ended: this.#ended,
      refusal: status === 101 ? '' : this.#received.toString('latin1'),
    }
  }

  end(): void {
    this.socket.destroy()
  }
}
