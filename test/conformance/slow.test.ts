import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { answersSilentClients, hasNoTimeLimits } from './gaps.ts'
import { type RawAnswer, sendRaw } from './raw-client.ts'
import { type RunningApp, startApp, targets, usesNodeHttp } from './targets.ts'

const limits = { headersTimeout: 1000, receiveTimeout: 2000, keepAliveTimeout: 1000 }
const body = 'POST /json HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n'
const get = 'GET /hello HTTP/1.1\r\nHost: x\r\n\r\n'

/** One character at a time, for longer than any limit. */
const drip = (first: string, rest: string) => [first, ...Array.from({ length: 200 }, () => rest)]

describe('HT-04 slow clients', () => {
  const limited = targets.filter((target) => !hasNoTimeLimits(target))

  it('are held for ever by Deno.serve, which is why it is not the choice for untrusted clients', async () => {
    const app = await startApp(targets.find(hasNoTimeLimits)!, { limits })
    try {
      expect((await sendRaw(app.port, 'GET /hel', { waitMs: 4000 })).closed).toBe(false)
    } finally {
      await app.stop()
    }
  })

  /** All at the same time: they are waited for, and do nothing. */
  const started = new Map<string, { app: RunningApp; answers: Map<string, RawAnswer[]> }>()
  beforeAll(async () => {
    await Promise.all(
      limited.map(async (target) => {
        const app = await startApp(target, { limits })
        const answers = new Map<string, RawAnswer[]>()
        started.set(target.name, { app, answers })
        const kinds: Record<string, string | string[]> = {
          'never speaks': '',
          'half a request line': 'GET /hel',
          'headers in drops': drip('GET /hello HTTP/1.1\r\nHost: x\r\nX: ', 'x'),
          'body in drops': drip(body, ' '),
          'idle between requests': get,
        }
        await Promise.all(
          Object.entries(kinds).map(async ([kind, data]) => {
            const five = Array.from({ length: 5 }, () => sendRaw(app.port, data, { waitMs: 14_000, dripMs: 100 }))
            answers.set(kind, await Promise.all(five))
          }),
        )
      }),
    )
  }, 40_000)
  afterAll(() => Promise.all([...started.values()].map(({ app }) => app.stop())))

  describe.each(limited)('$name', (target) => {
    const answersTo = (kind: string) => started.get(target.name)!.answers.get(kind)!

    // Bun's own timers tick every 4 s, and the one for heads is fixed at 10 s.
    const head = usesNodeHttp(target) ? 4500 : 13_000
    const later = usesNodeHttp(target) ? 5500 : 9000

    it.each([
      ['never speaks', head],
      ['half a request line', head],
      ['headers in drops', head],
      ['body in drops', later],
      ['idle between requests', later],
    ])('closes a client that is slow: %s', (kind, limit) => {
      for (const answer of answersTo(kind)) {
        expect(answer.closed).toBe(true)
        expect(answer.ms).toBeLessThan(limit)
      }
    })

    it('says 408 where a request had begun, and nothing where none had', () => {
      const statuses = (kind: string) => answersTo(kind).map((answer) => answer.statuses)
      for (const silent of statuses('never speaks')) expect(silent).toEqual(answersSilentClients(target) ? [408] : [])
      for (const idle of statuses('idle between requests')) expect(idle).toEqual([200])
      if (!usesNodeHttp(target)) return
      for (const kind of ['half a request line', 'headers in drops', 'body in drops'])
        for (const begun of statuses(kind)) expect(begun).toEqual([408])
    })

    it('serves others meanwhile', async () => {
      expect((await sendRaw(started.get(target.name)!.app.port, get, { answers: 1 })).statuses).toEqual([200])
    })
  })
})
