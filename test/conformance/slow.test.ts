import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { answersSilentClients, hasNoTimeLimits } from './gaps.ts'
import { bodyOf, type RawAnswer, sendRaw } from './raw-client.ts'
import { type SharedApp, shareApp, type Target, targets, usesNodeHttp } from './targets.ts'

const limits = { headersTimeout: 1000, receiveTimeout: 2000, keepAliveTimeout: 1000 }
const body = 'POST /json HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n'
const chunks =
  'POST /json HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n"\r\n'
const get = 'GET /hello HTTP/1.1\r\nHost: x\r\n\r\n'

/** One character at a time, for longer than any limit. */
const drip = (first: string, rest: string) => [first, ...Array.from({ length: 200 }, () => rest)]

describe('HT-04 slow clients', () => {
  /** All at the same time: they are waited for, and do nothing. */
  const started = new Map<string, { app: SharedApp; answers: Map<string, RawAnswer[]> }>()
  /** A connection with more time than the defaults give it: that they do not apply shows that the limits are those of the options. */
  const kept = new Map<string, RawAnswer>()
  const openLong = async (target: Target) => {
    const app = await shareApp(target, { limits: { headersTimeout: 100_000, receiveTimeout: 100_000 } })
    kept.set(target.name, await sendRaw(app.port, 'GET /hel', { answers: 0, quietMs: 12_000 }))
    await app.stop()
  }
  beforeAll(async () => {
    await Promise.all(
      targets.map(async (target) => {
        const app = await shareApp(target, { limits })
        const answers = new Map<string, RawAnswer[]>()
        started.set(target.name, { app, answers })
        const kinds: Record<string, string | string[]> = {
          'never speaks': '',
          'half a request line': 'GET /hel',
          'headers in drops': drip('GET /hello HTTP/1.1\r\nHost: x\r\nX: ', 'x'),
          'body in drops': drip(body, ' '),
          'chunks in drops': drip(chunks, '1\r\n \r\n'),
          'body that stops': `${body}"`,
          'idle between requests': get,
        }
        const options = hasNoTimeLimits(target) ? { waitMs: 5_000, dripMs: 100 } : { dripMs: 100 }
        await Promise.all([
          target.runtime.startsWith('node') && openLong(target),
          ...Object.entries(kinds).map(async ([kind, data]) => {
            const five = Array.from({ length: 5 }, () => sendRaw(app.port, data, options))
            answers.set(kind, await Promise.all(five))
          }),
        ])
      }),
    )
  })
  afterAll(() => Promise.all([...started.values()].map(({ app }) => app.stop())))

  describe.each(targets)('$name', (target) => {
    const answersTo = (kind: string) => started.get(target.name)!.answers.get(kind)!

    const bodies = ['body in drops', 'chunks in drops', 'body that stops']
    const heads = ['never speaks', 'half a request line', 'headers in drops']

    test.each([...heads, ...bodies, 'idle between requests'])('closes a client that is slow: %s', (kind) => {
      if (hasNoTimeLimits(target)) {
        // Why `Deno.serve` is not the choice for untrusted clients. When this fails, it has become one. After the 408 for a
        // body it closes some connections and keeps others.
        if (!bodies.includes(kind)) for (const answer of answersTo(kind)) expect(answer.closed).toBe(false)
        return
      }
      for (const answer of answersTo(kind)) expect(answer.closed).toBe(true)
      if (target.runtime.startsWith('node')) expect(kept.get(target.name)?.closed).toBe(false)
    })

    test('says 408 where a request had begun, and nothing where none had', () => {
      const statuses = (kind: string) => answersTo(kind).map((answer) => answer.statuses)
      for (const kind of bodies) {
        for (const begun of statuses(kind)) expect(begun, kind).toEqual([408])
        for (const answer of answersTo(kind)) expect(bodyOf(answer)).toMatchObject({ code: 'RequestTimeoutError' })
      }
      if (hasNoTimeLimits(target)) return
      for (const silent of statuses('never speaks')) expect(silent).toEqual(answersSilentClients(target) ? [408] : [])
      for (const { statuses, text } of answersTo('idle between requests')) {
        expect(statuses).toEqual([200])
        if (target.runtime.startsWith('node')) expect(text).toContain('Keep-Alive: timeout=1\r\n')
      }
      if (!usesNodeHttp(target)) return
      for (const kind of ['half a request line', 'headers in drops'])
        for (const begun of statuses(kind)) expect(begun).toEqual([408])
    })

    test('serves others meanwhile', async () => {
      expect((await sendRaw(started.get(target.name)!.app.port, get, { answers: 1 })).statuses).toEqual([200])
    })
  })
})
