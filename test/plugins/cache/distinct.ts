import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { RouteCollection, Server } from 'framework'
import { expect, test } from 'vitest'
import { memoryLogger } from '../../support/kernel.ts'

/** Sends random requests, of which no two that differ may share a response. */
export function testDistinctRequests(count: number): void {
  test(`requests that differ for the handler never share a response: 0 of ${count} requests`, async () => {
    const router = new RouteCollection()
    const plugins = { cache: { maxSize: '200mb' } }
    const server = new Server({ router, logger: memoryLogger(), gracefulShutdown: false, plugins })
    const cache = { include: { headers: ['x-a', 'x-b'] } }
    router.get('/*', { cache }, (req) =>
      JSON.stringify([
        req.path.split('/').map(decodeURIComponent),
        Object.entries(req.query).sort(),
        req.headers['x-a'],
        req.headers['x-b'],
      ]),
    )
    let seed = 7
    const random = (below: number) => {
      seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff
      return seed % below
    }
    const pieces = [
      'a',
      'A',
      'b',
      ':',
      '%3A',
      '%2F',
      '%23',
      '%26',
      '&',
      '=',
      '%3D',
      '.',
      '~',
      '-',
      '%25',
      '%7E',
      '%C3%BC',
      '+',
      '%20',
      '#',
      '?',
      'x-a',
      '/',
    ]
    const text = (max: number) => Array.from({ length: random(max) }, () => pieces[random(pieces.length)]).join('')
    let wrong = 0
    let hits = 0
    for (let i = 0; i < count; i++) {
      const url = `/${text(4)}?${text(4)}`
      const headers: Record<string, string> = {}
      if (random(3) === 0) headers['x-a'] = text(2)
      if (random(3) === 0) headers['x-b'] = text(2)
      const answer = await server.inject({ url, headers })
      if (answer.status !== 200) continue
      if (answer.headers['x-cache'] === 'HIT') hits++
      const body = Buffer.from(answer.body).toString()
      // What the handler would have sent to this very request.
      const expected = await expectedOf(url, headers)
      if (body !== expected) wrong++
    }
    async function expectedOf(url: string, headers: Record<string, string>) {
      const answer = await server.inject({ url, headers: { ...headers, cookie: 'bypass=1' } })
      return Buffer.from(answer.body).toString()
    }
    await server.close()
    expect(wrong).toBe(0)
    expect(hits).toBeGreaterThan(count / 25)
  })
}

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** Bytes of the heap and beside it. Those of the process say what V8 has not collected yet. */
function held(): number {
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

/** Fills the memory of a cache with more than it takes. */
export function testDistinctKeys(count: number): void {
  test(`${count} distinct keys stay within maxSize, and the index of tags shrinks with them`, async () => {
    const { MemoryStore } = await import('../../../plugins/cache/stores/memory.ts')
    const store = new MemoryStore(20 * 1024 * 1024)
    const entry = { status: 200, headers: [['content-type', 'text/plain']] as const, body: 'x'.repeat(100) }
    const before = held()
    for (let i = 0; i < count; i++) {
      const { fill } = store.begin(`cache:GET:/item/${i}#http://localhost`, [`item:${i}`, 'items'])
      await fill.commit(entry, 3600)
    }
    expect((held() - before) / 1024 / 1024).toBeLessThan(25)
    expect(store.invalidate(['item:1'])).toBe(0)
    expect(store.invalidate([`item:${count - 1}`])).toBe(1)
    const kept = store.invalidate(['items'])
    expect(kept).toBeGreaterThan(10_000)
    expect(kept).toBeLessThan(50_000)
  })
}
