import { Server } from 'framework'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeApp } from './fixture.mjs'
import { losesAuthority } from './gaps.ts'
import { bodyOf, type RawAnswer, sendRaw } from './raw-client.ts'
import { type SharedApp, shareApp, targets } from './targets.ts'
import { hosts, type Outcome, outcomeOf, urlTargets } from './urls.ts'

const host = 'app.test'
const urls = urlTargets()

describe('RO-05 one reading of a URL', () => {
  const { server } = makeApp(Server, {}, import.meta.filename)
  const expected: Outcome[] = []

  beforeAll(async () => {
    for (const url of urls) {
      // The address is built from the Host header, or from the authority of an absolute target.
      const inject = await server.inject({ method: 'GET', url, headers: { host } })
      expected.push(outcomeOf(inject.status, parse(inject.body)))
    }
  })
  afterAll(() => server.close())

  test('has 310 targets, most of which lead somewhere', () => {
    expect(urls.length).toBe(310)
    expect(expected.filter(({ status }) => status === 200).length).toBeGreaterThan(150)
    expect(expected.filter(({ status }) => status >= 500)).toEqual([])
  })

  test('is that of fetch', async () => {
    const origin = urls.map((url, i) => [url, expected[i]] as const).filter(([url]) => url.startsWith('/'))
    const differences: unknown[] = []
    for (const [url, wanted] of origin) {
      const response = await server.fetch(new Request(`http://${host}${url}`))
      const got = outcomeOf(response.status, await response.json())
      if (JSON.stringify(got) !== JSON.stringify(wanted)) differences.push({ url, got, wanted })
    }
    expect(differences).toEqual([])
  })

  describe.each(targets)('$name', (target) => {
    let app: SharedApp
    beforeAll(async () => {
      app = await shareApp(target)
    })
    afterAll(() => app.stop())

    test('is that of inject', async () => {
      const differences: unknown[] = []
      await inParts([...urls.entries()], async ([i, url]) => {
        // Where the authority of an absolute target is not shown, the outcome is that of its path.
        const same = losesAuthority(target) ? urls.indexOf(url.replace(/^http:\/\/[^/]*/i, '')) : i
        if (same === -1) return
        const answer = await ask(app.port, url, host)
        const got = outcomeOf(answer.statuses[0] ?? 0, bodyOf(answer))
        if (JSON.stringify(got) !== JSON.stringify(expected[same]))
          differences.push({ url, got, wanted: expected[same] })
      })
      expect(differences).toEqual([])
    })

    test('has one rule for hosts, and makes an address of each', async () => {
      const differences: unknown[] = []
      await inParts(hosts, async ([host, isOne]) => {
        const answer = await ask(app.port, '/x', host)
        const { status, url } = outcomeOf(answer.statuses[0] ?? 0, bodyOf(answer))
        const got = status === 200 ? new URL(String(url)).href : status
        const wanted = isOne ? new URL(`http://${host}/x`).href : 400
        if (got !== wanted) differences.push({ host, got, wanted })
      })
      expect(differences).toEqual([])
    })
  })
})

/** Some at the same time: most of the time each of them is on its way. */
async function inParts<One>(all: readonly One[], look: (one: One) => Promise<void>): Promise<void> {
  for (let i = 0; i < all.length; i += 20) await Promise.all(all.slice(i, i + 20).map(look))
}

/** One request, over a connection of its own: what is wrong with one may end it. */
function ask(port: number, url: string, host: string): Promise<RawAnswer> {
  const data = `GET ${url} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`
  return sendRaw(port, data, { answers: 1 })
}

function parse(body: Uint8Array): unknown {
  return JSON.parse(new TextDecoder().decode(body))
}
