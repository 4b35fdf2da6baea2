import { connect, type Socket } from 'node:net'
import { connect as connectSecurely } from 'node:tls'

/** What came back over one connection. */
export interface RawAnswer {
  /** What arrived, as latin1; of an endless response, the first 64 MB. */
  readonly text: string
  /** The statuses of all final responses, in order; 1xx left out. */
  readonly statuses: number[]
  /** Whether the server ended the connection. */
  readonly closed: boolean
  /** Milliseconds from the last write to the end. */
  readonly ms: number
}

export interface RawOptions {
  /** Leave after this many whole responses. Default: the server ends the connection, or the client fails after a minute. */
  readonly answers?: number
  /** Sent when `answers` have come: it is answered where the server keeps the connection. */
  readonly last?: string
  /** Stay for so many milliseconds after the last byte, to see that nothing follows `answers`, by default one, and all parts. */
  readonly quietMs?: number
  /** Leave after so many milliseconds, whatever has come: too few of them must show less, and nothing wrong. */
  readonly waitMs?: number
  /** Write the parts one after the other, with this pause between them. */
  readonly dripMs?: number
  /** Read nothing for so many milliseconds after each piece. */
  readonly readMs?: number
  /** Over TLS, whatever the certificate. */
  readonly secure?: boolean
}

/** How long a client waits for a server that has much to do. */
const patienceMs = 60_000

/** A fast machine sends an endless response at 1 GB/s, and a string of 512 MB is the longest there is. */
const keptLength = 64 * 1024 * 1024

const statusLine = /HTTP\/1\.[01] (\d{3})/g

/** Sends bytes unchanged over a new connection and collects the response. */
export function sendRaw(port: number, data: string | string[], options: RawOptions = {}): Promise<RawAnswer> {
  const { waitMs, quietMs, last, dripMs = 0, readMs, secure = false } = options
  let wanted = options.answers ?? (quietMs === undefined ? Number.POSITIVE_INFINITY : 1)
  const parts = typeof data === 'string' ? [data] : data
  return new Promise((resolve, reject) => {
    let text = ''
    let closed = false
    let isLastSent = false
    const seen = new Statuses()
    let started = performance.now()
    let drip: NodeJS.Timeout | undefined
    const socket = secure
      ? connectSecurely({ port, host: '127.0.0.1', rejectUnauthorized: false })
      : connect(port, '127.0.0.1')
    const giveUp = () => {
      reject(new Error(`after ${patienceMs} ms, the server has not ended a connection with ${JSON.stringify(text)}`))
      socket.destroy()
    }
    let timer = setTimeout(giveUp, patienceMs)
    const leaveIn = (ms: number) => {
      clearTimeout(timer)
      timer = setTimeout(() => socket.destroy(), ms)
    }
    let next = 0
    const look = () => {
      if (next < parts.length || seen.finals.length < wanted) return
      if (quietMs !== undefined) leaveIn(quietMs)
      else if (!endsWhole(text)) return
      else if (last === undefined || isLastSent) socket.destroy()
      else {
        isLastSent = true
        wanted++
        socket.write(Buffer.from(last, 'latin1'))
      }
    }
    socket.on(secure ? 'secureConnect' : 'connect', () => {
      started = performance.now()
      if (waitMs !== undefined) leaveIn(waitMs)
      const write = () => {
        if (next < parts.length && !socket.destroyed) socket.write(Buffer.from(parts[next++]!, 'latin1'))
        if (next < parts.length && !socket.destroyed) return
        clearInterval(drip)
        look()
      }
      if (parts.length > 1) drip = setInterval(write, dripMs)
      write()
    })
    socket.on('data', (chunk) => {
      if (readMs !== undefined) pauseFor(socket, readMs)
      if (text.length >= keptLength) return
      const piece = chunk.toString('latin1')
      text += piece
      seen.add(piece)
      look()
    })
    socket.on('end', () => {
      closed = true
    })
    // A reset is a way of closing, too.
    socket.on('error', () => {
      closed = true
    })
    socket.on('close', () => {
      clearTimeout(timer)
      clearInterval(drip)
      resolve({ text, statuses: seen.finals, closed, ms: performance.now() - started })
    })
  })
}

function pauseFor(socket: Socket, ms: number): void {
  socket.pause()
  setTimeout(() => socket.resume(), ms)
}

/** Sends a head and then pieces without end, as fast as they are taken, until the server ends the connection. */
export function flood(port: number, head: string, piece: Buffer, waitMs: number, pauseMs = 0): Promise<RawAnswer> {
  return new Promise((resolve) => {
    let text = ''
    let closed = false
    let started = 0
    const socket = connect(port, '127.0.0.1')
    const timer = setTimeout(() => socket.destroy(), waitMs)
    const pump = () => {
      if (pauseMs > 0) setTimeout(() => closed || socket.write(piece, pump), pauseMs)
      else while (!closed && socket.write(piece));
    }
    socket.on('connect', () => {
      started = performance.now()
      socket.write(head)
      pump()
    })
    if (pauseMs === 0) socket.on('drain', pump)
    socket.on('data', (chunk) => {
      if (text.length < keptLength) text += chunk.toString('latin1')
    })
    for (const event of ['end', 'error'])
      socket.on(event, () => {
        closed = true
      })
    socket.on('close', () => {
      clearTimeout(timer)
      resolve({ text, statuses: finals(text), closed, ms: performance.now() - started })
    })
  })
}

/** The first response's body, decoded when it is JSON. */
export function bodyOf(answer: RawAnswer): unknown {
  const bytes = Buffer.from(answer.text.slice(answer.text.indexOf('\r\n\r\n') + 4), 'latin1')
  const body = bytes.toString()
  try {
    return JSON.parse(body)
  } catch {
    return body
  }
}

/** The statuses in a text that comes in pieces: each of them is searched once. */
class Statuses {
  readonly finals: number[] = []
  #rest = ''

  add(piece: string): void {
    const text = this.#rest + piece
    let end = 0
    for (const match of text.matchAll(statusLine)) {
      end = match.index + match[0].length
      if (Number(match[1]) >= 200) this.finals.push(Number(match[1]))
    }
    // As much as may be the beginning of one.
    this.#rest = text.slice(Math.max(end, text.length - 'HTTP/1.1 20'.length))
  }
}

function finals(text: string): number[] {
  return [...text.matchAll(statusLine)].map((match) => Number(match[1])).filter((status) => status >= 200)
}

function endsWhole(text: string): boolean {
  const head = text.lastIndexOf('HTTP/1.')
  const end = text.indexOf('\r\n\r\n', head)
  if (end === -1) return false
  const length = /content-length: *(\d+)/i.exec(text.slice(head, end))
  return length === null ? text.endsWith('0\r\n\r\n') : text.length - end - 4 >= Number(length[1])
}
