import { Agent, request as httpRequest } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { corpus, type Expectation } from './corpus.ts'
import { closesByTicks, closesPipelines, dropsBodyOfGet, gapOf } from './gaps.ts'
import { bodyOf, flood, type RawAnswer, sendRaw } from './raw-client.ts'
import { type SharedApp, shareApp, type Target } from './targets.ts'

/** Bytes on the wire: the raw corpus, unread and oversized bodies, pipelining, and that nothing of it hurts the process. */
export function wireConformance(target: Target): void {
  describe(`wire: ${target.name}`, () => {
    let app: SharedApp
    let stopped: Promise<RawAnswer[]>
    let flooded: ReturnType<typeof floodUnread> | undefined
    /** The responses to the corpus, all sent at once: most of the time nothing comes any more, which is waited for. */
    let answers: RawAnswer[]
    beforeAll(async () => {
      app = await shareApp(target)
      // Waited for while the others run.
      stopped = Promise.all(halves.map((half) => sendRaw(app.port, half)))
      if (closesByTicks(target)) flooded = floodUnread(app.port, true)
      const wantedOf = (name: string) => gapOf(target, name)?.statuses.length ?? 1
      answers = await Promise.all(
        corpus.map(({ name, data }) => sendRaw(app.port, data, { answers: wantedOf(name), quietMs: 300 })),
      )
    })
    afterAll(() => app.stop())

    const events = async () => bodyOf(await sendRaw(app.port, request('/events'))) as string[]

    for (const [i, { id, name, expect: expected }] of corpus.entries()) {
      test(`${id} ${name}`, () => {
        const answer = answers[i]!
        const gap = gapOf(target, name)
        if (gap) expect(answer.statuses, gap.reason).toEqual(gap.statuses)
        else judge(answer, expected)
        // A request that is refused for its method learns that, and the existing methods.
        if (id === 'HT-11' && answer.statuses.length > 0) {
          expect([400, 405, 501]).toContain(answer.statuses[0])
          if (answer.statuses[0] === 405) expect(answer.text).toMatch(/\r\nallow: GET/i)
        }
      })
    }

    test('HT-02 no request after a doubtful one has run', async () => {
      const smuggled = corpus.some(({ id, name }) => id === 'HT-02' && gapOf(target, name))
      expect((await events()).includes('second request ran')).toBe(smuggled)
    })

    test('HT-03 a request without one host is 400, and its connection ends', async () => {
      for (const hosts of ['', 'Host: x\r\nHost: y\r\n', 'Host: x\r\nHost: x\r\n', 'Host: a b\r\n']) {
        const data = `GET /hello HTTP/1.1\r\n${hosts}\r\n${second}`
        const answer = await sendRaw(app.port, data)
        expect([hosts, answer.statuses, answer.closed]).toEqual([hosts, [400], true])
      }
    })

    test('HT-08 the request after one that asks for another protocol is answered', async () => {
      const asking = `GET /hello HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n`
      const answer = await sendRaw(app.port, `${asking}${request('/users/7')}`, { answers: 2 })
      expect(answer.statuses).toEqual([200, 200])
    })

    test('HT-08 1000 pipelined requests are answered in order', async () => {
      const one = (id: number) => `GET /users/${id} HTTP/1.1\r\nHost: x\r\n\r\n`
      const data = Array.from({ length: 1000 }, (_, id) => one(id)).join('')
      const answer = await sendRaw(app.port, data, { answers: 1000 })
      const ids = [...answer.text.matchAll(/"params":\{"id":"(\d+)"\}/g)].map((match) => Number(match[1]))
      expect(ids).toEqual(Array.from({ length: 1000 }, (_, id) => id))
    })

    test('HT-08 pipelined requests are answered in order when their responses take time', async () => {
      const pair = (_: unknown, i: number) =>
        [`/wait?ms=${20 - i}`, `/users/${i}`].map((path) => `${head('GET', path)}\r\n`).join('')
      const data = Array.from({ length: 20 }, pair).join('')
      const answer = await sendRaw(app.port, data, { answers: 40 })
      const ids = [...answer.text.matchAll(/"params":\{"id":"(\d+)"\}/g)].map((match) => Number(match[1]))
      if (closesPipelines(target)) expect([answer.statuses, answer.closed]).toEqual([[], true])
      else expect([ids, answer.statuses.length]).toEqual([Array.from({ length: 20 }, (_, i) => i), 40])
    })

    test('HT-08 a request that is refused by its head waits for the responses before it', async () => {
      const waits = `${head('GET', '/wait?ms=60')}\r\n`.repeat(2)
      for (const refused of ['CONNECT x:1 HTTP/1.1\r\nHost: x:1\r\n\r\n', '\x00rubbish\r\n\r\n']) {
        const answer = await sendRaw(app.port, waits + refused, { answers: 3 })
        if (closesPipelines(target)) expect([answer.statuses, answer.closed]).toEqual([[], true])
        else {
          expect(answer.text.match(/waited/g)).toHaveLength(2)
          expect(answer.statuses.slice(0, 2)).toEqual([200, 200])
          for (const status of answer.statuses.slice(2)) expect(status).toBeGreaterThanOrEqual(400)
        }
      }
    })

    test('BO-02 the limit is exact, by length, in chunks and in small chunks', async () => {
      const limit = 102_400
      const text = (size: number) => `"${'x'.repeat(size - 2)}"`
      const bySize = (size: number) => `Content-Length: ${size}\r\n\r\n${text(size)}`
      const inChunks = (size: number, step: number) => {
        const whole = text(size)
        let body = ''
        for (let at = 0; at < size; at += step) {
          const piece = whole.slice(at, at + step)
          body += `${piece.length.toString(16)}\r\n${piece}\r\n`
        }
        return `Transfer-Encoding: chunked\r\n\r\n${body}0\r\n\r\n`
      }
      const forms = [bySize, (size: number) => inChunks(size, 1000), (size: number) => inChunks(size, 70)]
      for (const form of forms) {
        for (const [size, status] of [
          [limit - 1, 200],
          [limit, 200],
          [limit + 1, 413],
        ] as const) {
          const answer = await sendRaw(
            app.port,
            `${head('POST', '/json')}Content-Type: application/json\r\n${form(size)}`,
            { answers: 1 },
          )
          expect(answer.statuses, `${size} bytes`).toEqual([status])
        }
      }
    })

    test('BO-03 a body far over the limit is answered 413 and its connection closed', async () => {
      const json = 'Content-Type: application/json\r\n'
      const declared = `${head('POST', '/json')}${json}Content-Length: 10000000000\r\n\r\n${'x'.repeat(100_000)}`
      const chunk = `4000\r\n${'x'.repeat(16_384)}\r\n`
      const endless = [
        `${head('POST', '/json')}${json}Transfer-Encoding: chunked\r\n\r\n`,
        ...Array<string>(60).fill(chunk),
      ]
      for (const data of [declared, endless]) {
        const answer = await sendRaw(app.port, data, { ...(closesByTicks(target) && { answers: 1 }), dripMs: 5 })
        expect(answer.statuses).toEqual([413])
        expect(answer.text).toContain('PayloadTooLargeError')
        if (!closesByTicks(target)) expect(answer.closed && answer.ms < beforeTimeout).toBe(true)
      }
    })

    test('BO-03 a client that stops in the middle of such a body is answered and closed', async () => {
      for (const answer of await stopped) {
        expect(answer.statuses).toEqual([413])
        expect(bodyOf(answer)).toMatchObject({ code: 'PayloadTooLargeError' })
        expect(answer.closed).toBe(true)
        expect(answer.ms).toBeLessThan(beforeTimeout)
      }
    })

    test('BO-03 a client that sends on has its response before its connection ends', async () => {
      const { port } = app
      const body = Buffer.alloc(8_000_000, 120)
      // One that asks for the end of its connection has it at once from Bun, with its response or without.
      const agent = new Agent({ keepAlive: true })
      const headers = { 'content-type': 'application/json', 'content-length': body.length }
      const options = { host: '127.0.0.1', port, method: 'POST', path: '/json', headers, agent }
      const send = () =>
        new Promise<unknown>((resolve) => {
          const sending = httpRequest(options, (response) => {
            response.on('error', resolve).on('end', () => resolve(response.statusCode))
            response.resume()
          })
          sending.on('error', resolve).end(body)
        })
      const statuses: unknown[] = []
      // One after the other: a client that writes for seven others, too, reads later than the connection is kept for it.
      while (statuses.length < 8) statuses.push(await send())
      agent.destroy()
      expect(statuses).toEqual(Array.from({ length: 8 }, () => 413))
    })

    test('BO-11 length 0 means no body, a GET may have one, and an empty one in chunks is not JSON', async () => {
      const json = 'Content-Type: application/json\r\nConnection: close\r\n'
      const none = 'Content-Length: 0\r\n\r\n'
      const empty = 'Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n'
      const asked = async (method: string, path: string, rest: string) => {
        const answer = await sendRaw(app.port, `${head(method, path)}${json}${rest}`)
        return [answer.statuses[0], answer.closed, (bodyOf(answer) as { body?: unknown }).body]
      }
      for (const method of ['POST', 'DELETE']) {
        expect(await asked(method, '/json', none)).toEqual([200, true, null])
        expect(await asked(method, '/json', `\r\n`)).toEqual([200, true, null])
        expect(await asked(method, '/json', empty)).toEqual([400, true, undefined])
      }
      for (const body of dropsBodyOfGet(target) ? ['[', second] : ['[]']) {
        const data = `${head('GET', '/headers')}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
        const answer = await sendRaw(app.port, data + request('/hello'))
        // Where it is not read as JSON, it is not the next request either.
        expect(answer.statuses).toEqual([200, 200])
        expect(answer.text).not.toContain('"second"')
      }
    })

    test('BO-12 an unread body does not become the next request', async () => {
      for (let i = 0; i < 20; i++) {
        const body = second.repeat(2500).slice(0, 90_000)
        const data = `${head('POST', '/unread')}Content-Length: ${body.length}\r\n\r\n${body}${request('/health')}`
        const answer = await sendRaw(app.port, data, { answers: 2 })
        // A runtime that closes instead of reading on leaves the second to a new connection.
        expect(answer.statuses).toEqual(answer.statuses.length === 1 && answer.closed ? [200] : [200, 200])
        expect(answer.text).not.toContain('second')
      }
    })

    test('BO-13 a body that no one reads does not come in without end', async () => {
      for (const [line, framing, responses, closed] of await (flooded ?? floodUnread(app.port, false))) {
        expect([line, framing, closed]).toEqual([line, framing, true])
        // Deno keeps the connection for half a second: on a busy machine, this client may only write in that time.
        expect(target.runtime === 'deno' ? [0, 1] : [1], `${line}, ${framing}`).toContain(responses)
      }
    })

    test('Expect: 100-continue is honoured', async () => {
      const data = [
        `${head('POST', '/json')}Content-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n`,
        '[]',
      ]
      const answer = await sendRaw(app.port, data, { dripMs: 100, answers: 1 })
      expect(answer.statuses).toEqual([200])
      expect(answer.text).toMatch(/^HTTP\/1.1 100 /)
    })

    test('HT-01 the process has survived all of it', async () => {
      expect((await events()).filter((event) => event !== 'second request ran')).toEqual([])
      expect((await sendRaw(app.port, request('/health'), { answers: 1 })).statuses).toEqual([200])
    })
  })
}

/**
 * Floods handlers that read no body, at once: the request line, the framing, the number of responses, and whether the connection was closed in
 * time. Where that takes 8 seconds, whatever speed the client has, the client has a slow one: at full speed it would be 19 GB.
 */
function floodUnread(port: number, isSlow: boolean): Promise<[string, string, number, boolean][]> {
  const piece = Buffer.alloc(65_536, 120)
  const chunk = Buffer.concat([Buffer.from('10000\r\n'), piece, Buffer.from('\r\n')])
  const framings = [
    ['Content-Length: 100000000000', piece],
    ['Transfer-Encoding: chunked', chunk],
  ] as const
  const asked = ['POST /nowhere', 'POST /unread', 'POST /json', 'GET /hello'].flatMap((line) =>
    framings.map(async ([framing, data]): Promise<[string, string, number, boolean]> => {
      const start = `${line} HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\n${framing}\r\n\r\n`
      const { statuses, closed, ms } = await flood(port, start, data, beforeTimeout + 2000, isSlow ? 50 : 0)
      return [line, framing, statuses.length, closed && ms < beforeTimeout]
    }),
  )
  return Promise.all(asked)
}

/** Before the time limit of a request, which is 30 s, would have ended its connection. */
const beforeTimeout = 25_000

/** The first part of bodies that are too large, by their declared or their received length. */
const half = 'x'.repeat(150_000)
const halves = [
  'Content-Length: 10000000\r\n\r\n',
  `Content-Length: 10000000\r\n\r\n${half}`,
  `Transfer-Encoding: chunked\r\n\r\n${half.length.toString(16)}\r\n${half}\r\n`,
  `Transfer-Encoding: chunked\r\n\r\n100000\r\n${half}`,
].map((rest) => `${head('POST', '/json')}Content-Type: application/json\r\n${rest}`)

const second = 'GET /second HTTP/1.1\r\nHost: x\r\n\r\n'

function head(method: string, path: string): string {
  return `${method} ${path} HTTP/1.1\r\nHost: x\r\n`
}

function request(path: string): string {
  return `${head('GET', path)}Connection: close\r\n\r\n`
}

function judge(answer: RawAnswer, expected: Expectation): void {
  const [first] = answer.statuses
  if (expected === 'refused') {
    if (first === undefined) expect(answer.closed, 'neither a response nor a closed connection').toBe(true)
    else expect(first).toBeGreaterThanOrEqual(400)
    expect(answer.text).not.toContain('second')
  } else expect(expected).toContain(first)
}
