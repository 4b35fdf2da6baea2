import { Agent, request } from 'node:http'
import type { Duplex } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import type { Balancer } from './balancer.ts'
import type { Findings } from './findings.ts'
import type { Instance } from './instance.ts'
import type { Planned } from './requests.ts'

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

/** The methods of requests that clients may repeat. */
const repeatable: readonly string[] = ['GET', 'HEAD', 'OPTIONS', 'QUERY']

interface Sent extends Planned {
  open: number
  /** Whether its usual response is known. */
  isKnown: boolean
}

/** The clients of the application. */
export class Traffic {
  /** How many responses there were, by status. */
  readonly statuses: Record<number, number> = {}
  readonly #balancer: Balancer
  readonly #findings: Findings
  readonly #requests: readonly Sent[]
  readonly #timer: NodeJS.Timeout
  readonly #agent = new Agent({ keepAlive: true })
  /** What also goes wrong without replacements. */
  readonly #usual = new Set<string>()
  #isReplacing = false
  #isOver = false

  /** Begins to send requests, `rate` in a second. */
  constructor(balancer: Balancer, findings: Findings, requests: readonly Planned[], rate: number) {
    this.#balancer = balancer
    this.#findings = findings
    this.#requests = requests.map((planned) => ({ ...planned, open: 0, isKnown: false }))
    let turn = 0
    this.#timer = setInterval(() => {
      // Each one once, then at random: in turn, each would have kept connections always or never.
      const index = turn < requests.length ? turn : Math.floor(Math.random() * requests.length)
      const next = this.#requests[index]!
      const keeps = turn++ % 2 === 0
      if (next.open < maxOpen) this.#send(next, keeps)
    }, 1000 / rate)
  }

  /** Waits until the usual response of each request is known. What goes wrong from then on in another way is a loss. */
  async known(): Promise<void> {
    const isUnknown = () => this.#requests.some(({ isKnown }) => !isKnown)
    for (let waited = 0; isUnknown() && waited < firstMs; waited += 50) await pause(50)
    this.#isReplacing = true
  }

  stop(): void {
    this.#isOver = true
    clearInterval(this.#timer)
    this.#agent.destroy()
  }

  #send(planned: Sent, keeps: boolean): void {
    const { method, path, body, isSocket = false, headers: own } = planned
    // No client may repeat other requests, which a kept connection can lose.
    const agent = keeps && !isSocket && repeatable.includes(method) && this.#agent
    const usual = isSocket ? openingHeaders : own || body === undefined ? {} : { 'content-type': 'application/json' }
    // Node.js itself declares no length for GET and DELETE: the body would be read as the next request.
    const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }
    const headers = { ...own, ...usual, ...length }
    const sent = request({ host: '127.0.0.1', port: this.#balancer.port, method, path, headers, agent })
    planned.open++
    let from: number | undefined
    sent.once('finish', () => {
      from = sent.socket?.localPort
    })
    let isDone = false
    const end = (why?: string, kind = isSocket ? 'websocket' : 'response') => {
      if (isDone) return
      isDone = true
      planned.open--
      const [name] = path.split('?')
      if (why !== undefined && !this.#isOver)
        this.#record(`${kind} ${method} ${name}: ${why}`, this.#balancer.owners.get(from))
    }
    sent.once('response', (response) => {
      planned.isKnown = true
      const status = response.statusCode!
      this.statuses[status] = (this.statuses[status] ?? 0) + 1
      const kind = response.headers['content-type']?.startsWith('text/event-stream') ? 'stream' : 'response'
      response.on('error', () => {}).resume()
      if (status >= 500) end(`status ${status}`)
      response.once('close', () => end(response.complete ? undefined : 'cut off', kind))
    })
    sent.once('upgrade', (_response, socket, first) => {
      planned.isKnown = true
      followSocket(socket, first, end)
    })
    sent.once('error', ({ code, message }: NodeJS.ErrnoException) => {
      planned.isKnown = true
      // As every client does: the connection has ended before the request was there (RFC 9110, section 9.2.2).
      if (isDone || !sent.reusedSocket) return end(code ?? message)
      end()
      this.#send(planned, false)
    })
    sent.end(body)
  }

  #record(failure: string, instance: Instance | undefined): void {
    if (!this.#isReplacing) this.#usual.add(failure)
    if (this.#usual.has(failure)) return
    const level = instance?.isKilled ? 'killed' : 'lost'
    this.#findings.add(`${failure}${circumstances(instance)}`, { key: `${failure} ${instance?.name}`, level })
  }
}

function circumstances(instance: Instance | undefined): string {
  if (instance === undefined) return ', while no instance was ready'
  const { endsAt, begun } = instance
  if (endsAt === undefined) return ''
  const hooks = begun.length === 0 ? 'before any hook' : `after ${begun.join(' and ')} had begun`
  return `, ${Math.round(performance.now() - endsAt)} ms after SIGTERM, ${hooks}`
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
