import type { Redis } from 'ioredis'
import type { Response, Server } from '../../index.ts'
import type { Built } from '../micro/built.ts'
import type { MicroCase } from '../micro/harness.ts'
import { asking, serverOf } from './asked.ts'
import { missing, pair } from './pair.ts'
import { redisByHand } from './redis.ts'

const limit = 1_000_000_000
const windowMs = 3_600_000
const policy = `${limit};w=${windowMs / 1000}`

/** Sets the headers that the plugin sets, and returns whether the request may continue. */
function judge(res: Response, count: number, resetMs: number): boolean {
  res
    .setHeader('ratelimit-policy', policy)
    .setHeader('ratelimit-limit', limit)
    .setHeader('ratelimit-remaining', Math.max(0, limit - count))
    .setHeader('ratelimit-reset', Math.ceil(resetMs / 1000))
  if (count <= limit) return true
  res.status(429).send()
  return false
}

async function memoryByHand(built: Built): Promise<Server> {
  const server = await serverOf(built)
  const windows = new Map<string, { count: number; end: number }>()
  server.use((req, res, next) => {
    const now = performance.now()
    let window = windows.get(req.ip)
    if (window === undefined || window.end <= now) {
      window = { count: 0, end: now + windowMs }
      windows.set(req.ip, window)
    }
    return judge(res, ++window.count, window.end - now) ? next() : undefined
  })
  return server
}

const lua = `
local count = redis.call('incr', KEYS[1])
if count == 1 then redis.call('pexpire', KEYS[1], ARGV[1]) end
return { count, redis.call('pttl', KEYS[1]) }`

type Counting = Redis & { hit(key: string, windowMs: number): Promise<[count: number, resetMs: number]> }

async function redisServerByHand(built: Built, url: string): Promise<Server> {
  const server = await serverOf(built)
  const redis = (await redisByHand(url)) as Counting
  redis.defineCommand('hit', { numberOfKeys: 1, lua })
  server.use(async (req, res, next) => {
    const [count, resetMs] = await redis.hit(`by-hand:${req.ip}`, windowMs)
    if (judge(res, count, resetMs)) await next()
  })
  return server
}

function counted(server: Server) {
  server.get('/', () => ({ hello: 'world' }))
  return asking(
    server,
    () => ({ url: '/' }),
    ({ status, headers }) => status === 200 && headers['ratelimit-limit'] === String(limit),
  )
}

/** Counts a request that may continue. */
export async function rateLimitCases(built: Built): Promise<MicroCase[]> {
  const { 'redis-server': url } = built.services
  const own = (store: object) => serverOf(built, { rateLimit: { limit, windowMs, ...store } })
  const cases = pair('memory', 1, {
    'by hand': counted(await memoryByHand(built)),
    framework: counted(await own({})),
  })
  if (url === undefined) return [...cases, missing('Redis', 'redis-server')]
  return [
    ...cases,
    ...pair('Redis', 16, {
      'by hand': counted(await redisServerByHand(built, url)),
      framework: counted(await own({ store: { redis: { url } } })),
    }),
  ]
}
