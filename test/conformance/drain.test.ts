import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import { describe, expect, test } from 'vitest'
import { isLong } from '../support/long.ts'
import { closesPipelines } from './gaps.ts'
import { bodyOf, type RawAnswer, sendRaw } from './raw-client.ts'
import { startApp, type Target, targets, usesNodeHttp } from './targets.ts'

const clients = 20
/**
 * They close their port while connections wait to be accepted, which resets those: such a client has sent its request to no one, and may
 * send it again. On a busy machine there are some.
 */
const resetsUnaccepted = ({ runtime, name }: Target) => runtime === 'bun' || name === 'deno'

/** Requests without pause over one agent until the server refuses connections. */
class Load {
  readonly statuses = new Map<number, number>()
  /** Requests that were lost: on a connection that had served others, or after the first bytes of a response. */
  readonly failures: string[] = []
  /** New connections that were reset before anything came back over them. */
  resets = 0
  #sent = 0
  readonly #agent = new Agent({ keepAlive: true, maxSockets: clients })
  readonly #port: number
  #stopped = false

  constructor(port: number) {
    this.#port = port
  }

  async run(): Promise<void> {
    await Promise.all(Array.from({ length: clients }, () => this.#client()))
    this.#agent.destroy()
  }

  stop(): void {
    this.#stopped = true
  }

  async #client(): Promise<void> {
    while (!this.#stopped && (await this.#one()));
  }

  /** Whether to go on. */
  #one(): Promise<boolean> {
    return new Promise((resolve) => {
      const path = `/work/${++this.#sent}`
      const options = { agent: this.#agent, host: '127.0.0.1', port: this.#port, method: 'POST', path }
      const sending = request(options, (response) => {
        const { statusCode = 0 } = response
        response.resume()
        response.on('error', (error) => this.#fail(error, resolve))
        response.on('end', () => {
          this.statuses.set(statusCode, (this.statuses.get(statusCode) ?? 0) + 1)
          resolve(true)
        })
      })
      sending.on('error', (error: NodeJS.ErrnoException) => {
        if (error.code === 'ECONNREFUSED') return resolve(false)
        if (error.code !== 'ECONNRESET' || sending.reusedSocket) return this.#fail(error, resolve)
        this.resets++
        resolve(true)
      })
      sending.end()
    })
  }

  #fail(error: NodeJS.ErrnoException, resolve: (goOn: boolean) => void): void {
    this.failures.push(error.code ?? error.message)
    resolve(true)
  }
}

/** What four requests of a client name that does not wait for responses. */
const idsOf = (client: number) => [0, 1, 2, 3].map((n) => `${client}-${n}`)

function sendPipelines(port: number): Promise<RawAnswer[]> {
  const one = (id: string) => `POST /work/${id} HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n`
  return Promise.all(Array.from({ length: 10 }, (_, client) => sendRaw(port, idsOf(client).map(one).join(''))))
}

function checkPipelines(target: Target, responses: readonly RawAnswer[], begun: number): void {
  if (closesPipelines(target)) {
    expect([responses.filter(({ text }) => text !== ''), begun]).toEqual([[], 10])
    return
  }
  for (const [client, { text, statuses, closed }] of responses.entries()) {
    const ids = [...text.matchAll(/"id":"(\d-\d)"/g)].map(([, id]) => id)
    expect(ids).toEqual(idsOf(client).slice(0, ids.length))
    expect(statuses).toEqual(ids.map(() => 200))
    expect(closed).toBe(true)
    // Only the last one announces the end of the connection.
    if (usesNodeHttp(target)) expect(text.split(/connection: close/i).at(-1)).toContain(`{"id":"${ids.at(-1)}"}`)
  }
  expect(responses.reduce((sum, { statuses }) => sum + statuses.length, 0)).toBe(begun)
}

describe('GS-01 SIGTERM under load loses no request, nor any that was sent without waiting for responses', () => {
  test.each(targets)('$name', async (target) => {
    const app = await startApp(target, { drainWindow: 100, closeTimeout: 30_000 })
    try {
      const load = new Load(app.port)
      const running = load.run()
      // A connection on which nothing was ever sent must not hold the process.
      const silent = connect(app.port, '127.0.0.1').on('error', () => {})
      await expect.poll(() => load.statuses.get(200), { timeout: 20_000 }).toBeGreaterThan(2 * clients)
      const pipelines = sendPipelines(app.port)
      const begun = () => app.stderr().split('\n').filter(Boolean)
      await expect.poll(() => begun().filter((id) => id.endsWith('-0')).length, { timeout: 20_000 }).toBe(10)
      const start = performance.now()
      app.signal('SIGTERM')
      const code = await app.exited
      const ms = performance.now() - start
      load.stop()
      await running
      silent.destroy()
      expect(load.failures).toEqual([])
      if (!resetsUnaccepted(target)) expect(load.resets).toBe(0)
      expect([...load.statuses.keys()]).toEqual([200])
      // Each request that began has its response.
      expect(load.statuses.get(200)).toBe(begun().filter((id) => !id.includes('-')).length)
      checkPipelines(target, await pipelines, begun().filter((id) => id.includes('-')).length)
      expect(code).toBe(0)
      expect(ms).toBeLessThan(20_000)
    } finally {
      await app.stop()
    }
  })
})

async function eventsOf(port: number): Promise<string[]> {
  const answer = await sendRaw(port, 'GET /events HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', {
    answers: 1,
  })
  return bodyOf(answer) as string[]
}

describe('GS-02 a request that never ends is cut at the deadline', () => {
  // By the later one, Deno has closed its listener; for the others it is the same case.
  const deadlinesOf = ({ name }: Target) => (isLong || name === 'deno' ? [300, 1_500] : [300])
  const cases = targets.flatMap((target) =>
    deadlinesOf(target).map((closeTimeout) => ({ target, closeTimeout, ...target })),
  )
  test.concurrent.for(cases)('$name after $closeTimeout ms', async ({ target, closeTimeout }, { expect }) => {
    const app = await startApp(target, { closeTimeout })
    try {
      const hanging = sendRaw(app.port, 'GET /abort HTTP/1.1\r\nHost: x\r\n\r\n')
      const upload = sendRaw(
        app.port,
        'POST /json HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 90000\r\n\r\n"half',
      )
      const stream = sendRaw(app.port, 'GET /endless HTTP/1.1\r\nHost: x\r\n\r\n', { readMs: 10 })
      await expect.poll(() => eventsOf(app.port), { timeout: 20_000 }).toContain('endless 0')
      app.signal('SIGTERM')
      expect(await app.exited).toBe(0)
      expect((await hanging).closed).toBe(true)
      expect((await stream).closed).toBe(true)
      expect((await upload).closed).toBe(true)
      expect(app.stderr()).not.toContain('Uncaught')
    } finally {
      await app.stop()
    }
  })
})
