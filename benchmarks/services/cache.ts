import { createHash } from 'node:crypto'
import type { Response, Server } from '../../index.ts'
import { account } from '../load/suites.ts'
import type { Built } from '../micro/built.ts'
import type { MicroCase } from '../micro/harness.ts'
import { asking, serverOf } from './asked.ts'
import { missing, pair } from './pair.ts'
import { redisByHand } from './redis.ts'

interface Kept {
  readonly etag: string
  readonly text: string
}

function made(): Kept {
  const text = JSON.stringify(account)
  return { etag: `"${createHash('sha1').update(text).digest('base64url')}"`, text }
}

const answer = (res: Response, how: 'HIT' | 'MISS', { etag, text }: Kept) =>
  res.type('json').setHeader('x-cache', how).setHeader('etag', etag).text(text)

async function memoryByHand(built: Built): Promise<Server> {
  const server = await serverOf(built)
  const kept = new Map<string, Kept>()
  server.get('/accounts/:id', (req, res) => {
    const found = kept.get(req.url)
    if (found !== undefined) return answer(res, 'HIT', found)
    const one = made()
    kept.set(req.url, one)
    // Removes the oldest entry; code this short does not know which was used last.
    if (kept.size > 10_000) kept.delete(kept.keys().next().value!)
    return answer(res, 'MISS', one)
  })
  return server
}

async function redisServerByHand(built: Built, url: string): Promise<Server> {
  const [server, redis] = await Promise.all([serverOf(built), redisByHand(url)])
  server.get('/accounts/:id', async (req, res) => {
    const key = `by-hand:${req.url}`
    const found = await redis.get(key)
    if (found !== null) {
      const end = found.indexOf('\n')
      return answer(res, 'HIT', { etag: found.slice(0, end), text: found.slice(end + 1) })
    }
    const one = made()
    await redis.set(key, `${one.etag}\n${one.text}`, 'EX', 300)
    return answer(res, 'MISS', one)
  })
  return server
}

const length = Buffer.byteLength(JSON.stringify(account))

/** Asks for the same response, cached and not cached yet. */
export async function cacheCases(built: Built): Promise<MicroCase[]> {
  const { 'redis-server': url } = built.services
  const own = async (options: object) => {
    const server = await serverOf(built, { cache: options })
    server.get('/accounts/:id', { cache: true }, () => account)
    return server
  }
  const places: [string, number, { 'by hand'(): Promise<Server>; framework(): Promise<Server> }][] = [
    ['memory', 1, { 'by hand': () => memoryByHand(built), framework: () => own({}) }],
  ]
  if (url !== undefined) {
    const framework = () => own({ provider: 'redis', redis: { url } })
    places.push(['Redis', 16, { 'by hand': () => redisServerByHand(built, url), framework }])
  }
  let last = 0
  // Redis keeps the entries of earlier processes.
  const next = () => `${process.pid}-${++last}`
  const cases: MicroCase[] = []
  for (const [name, width, make] of places) {
    // One server for each case: the entries of misses would displace the others.
    const side = async (how: 'HIT' | 'MISS', id: () => string, serverOfSide: () => Promise<Server>) => {
      const server = await serverOfSide()
      await server.inject({ url: '/accounts/0' })
      return asking(
        server,
        () => ({ url: `/accounts/${id()}` }),
        ({ headers, body }) => headers['x-cache'] === how && headers.etag !== undefined && body.length === length,
      )
    }
    const sides = async (how: 'HIT' | 'MISS', id: () => string) => ({
      'by hand': await side(how, id, make['by hand']),
      framework: await side(how, id, make.framework),
    })
    cases.push(
      ...pair(`hit, ${name}`, width, await sides('HIT', () => '0')),
      ...pair(`miss, ${name}`, width, await sides('MISS', next)),
    )
  }
  if (url === undefined) cases.push(missing('hit, Redis', 'redis-server'), missing('miss, Redis', 'redis-server'))
  return cases
}
