import { Agent, type IncomingMessage, request } from 'node:http'
import type { Duplex } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import type { Balancer } from './balancer.ts'
import type { Instance } from './instance.ts'
import { isSafe, type Planned } from './requests.ts'

/** How many exchanges of one request run at once: the number of its streams and websockets. */
const maxOpen = 8
/** Milliseconds that the first responses may take longer than the traffic before the replacements. */
const firstMs = 30_000
/** The maximum length of a close frame in bytes (RFC 6455, section 5.5). */
const longestClose = 127
/** The close frame of a client with the code 1001; its mask is zero. */
const closeFrame = Buffer.from([0x88, 0x82, 0, 0, 0, 0, 0x03, 0xe9])
const openingHeaders = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'cmVoZWFyc2luZyBhIGRlcA==',
}

/** An exchange that has gone wrong in another way than before the replacements. */
export interface Loss {
  readonly what: 'response' | 'stream' | 'websocket'
  readonly target: string
  readonly why: string
  readonly instance: Instance | undefined
  /** Milliseconds after the instance was asked to end; missing if it was not. */
  readonly after?: number
  /** The hooks that had begun in the instance. */
  readonly hooks: readonly string[]
  /** What the handler has thrown. */
  readonly error?: string | undefined
}

/** The clients of the application. */
export class Traffic {
  readonly losses: Loss[] = []
  /** How many responses there were, by status. */
  readonly statuses: Record<number, number> = {}
  readonly #balancer: Balancer
  readonly #timer: NodeJS.Timeout
  readonly #agent = new Agent({ keepAlive: true })
  readonly #usual = new Set<string>()
  /** The requests whose usual response is not known yet. */
  readonly #untried: Set<Planned>
  readonly #open = new Map<Planned, number>()
  #sent = 0
  #isReplacing = false
  #isOver = false

  /** Begins to send requests, `rate` in a second; `next` returns the index of the next one. */
  constructor(balancer: Balancer, requests: readonly Planned[], rate: number, next: () => number) {
    this.#balancer = balancer
    this.#untried = new Set(requests)
    let turn = 0
    this.#timer = setInterval(() => {
      const planned = requests[turn < requests.length ? turn++ : next()]!
      if ((this.#open.get(planned) ?? 0) < maxOpen) this.#send(planned)
    }, 1000 / rate)
  }

  /** Waits until the usual response of each request is known. What goes wrong from then on in another way is a loss. */
  async known(): Promise<void> {
    for (let waited = 0; this.#untried.size > 0 && waited < firstMs; waited += 50) await pause(50)
    this.#isReplacing = true
  }

  stop(): void {
    this.#isOver = true
    clearInterval(this.#timer)
    this.#agent.destroy()
  }

  #count(planned: Planned, change: number): void {
    this.#open.set(planned, (this.#open.get(planned) ?? 0) + change)
  }

  #send(planned: Planned): void {
    const { method, path, headers, body, isSocket = false } = planned
    // Half of the connections are kept, but not those of requests that no client may repeat.
    const agent = !isSocket && isSafe(planned) && this.#sent++ % 2 === 0 && this.#agent
    const all = isSocket ? { ...headers, ...openingHeaders } : headers
    const sent = request({ host: '127.0.0.1', port: this.#balancer.port, method, path, headers: all, agent })
    this.#count(planned, 1)
    let from: number | undefined
    sent.once('finish', () => {
      from = sent.socket?.localPort
    })
    let isDone = false
    const end = (why?: string, what: Loss['what'] = isSocket ? 'websocket' : 'response') => {
      if (isDone) return
      isDone = true
      this.#count(planned, -1)
      if (why !== undefined && !this.#isOver) this.#record(planned, what, why, this.#balancer.ownerOf(from))
    }
    sent.once('response', (answer) => {
      this.#read(answer, end)
      this.#untried.delete(planned)
    })
    sent.once('upgrade', (_answer, socket, first) => {
      followSocket(socket, first, end)
      this.#untried.delete(planned)
    })
    sent.once('error', ({ code, message }: NodeJS.ErrnoException) => {
      // As every client does: the connection has ended before the request was there (RFC 9110, section 9.2.2).
      if (!isDone && sent.reusedSocket) {
        end()
        this.#send(planned)
      } else end(code ?? message)
      this.#untried.delete(planned)
    })
    sent.end(body)
  }

  #read(answer: IncomingMessage, end: (why?: string, what?: Loss['what']) => void): void {
    const status = answer.statusCode!
    this.statuses[status] = (this.statuses[status] ?? 0) + 1
    const isStream = answer.headers['content-type']?.startsWith('text/event-stream')
    answer.on('error', () => {}).resume()
    if (status >= 500) end(`status ${status}`)
    answer.once('close', () => end(answer.complete ? undefined : 'cut off', isStream ? 'stream' : 'response'))
  }

  #record({ method, path }: Planned, what: Loss['what'], why: string, instance: Instance | undefined): void {
    const [name = ''] = path.split('?')
    const target = `${method} ${name}`
    if (!this.#isReplacing) this.#usual.add(`${target} ${why}`)
    if (this.#usual.has(`${target} ${why}`)) return
    const after = instance?.endsAt !== undefined && { after: Math.round(performance.now() - instance.endsAt) }
    const error = instance?.errors.get(name)
    this.losses.push({ what, target, why, instance, ...after, hooks: instance?.begun ?? [], error })
  }
}

/** Reads a websocket to its end, which has to be a close frame. */
function followSocket(socket: Duplex, first: Buffer, end: (why?: string) => void): void {
  let tail = first
  const isClosed = () => tail.some((byte, at) => byte === 0x88 && tail[at + 1] === tail.length - at - 2)
  socket.on('error', () => {})
  socket.on('data', (chunk: Buffer) => {
    tail = Buffer.concat([tail, chunk]).subarray(-longestClose)
    if (isClosed()) socket.write(closeFrame)
  })
  socket.once('close', () => end(isClosed() ? undefined : 'ended without a close frame'))
}

/** Returns the numbers below a length in turn, or with a seed in an order that it determines. */
export function orderOf(length: number, seed: number | undefined): () => number {
  let state = seed ?? -1
  return () => {
    if (seed === undefined) return ++state % length
    // The constants are those of Numerical Recipes; the high bits are the random ones.
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * length)
  }
}
