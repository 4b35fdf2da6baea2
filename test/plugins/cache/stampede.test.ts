import { RouteCollection, Server } from 'framework'
import { afterEach, expect, test } from 'vitest'
import { memoryLogger, pause } from '../../support/kernel.ts'

const servers: Server[] = []
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()))
})

function makeServer(options: object = {}) {
  const router = new RouteCollection()
  const server = new Server({
    router,
    logger: memoryLogger(),
    gracefulShutdown: false,
    closeTimeout: 200,
    plugins: { cache: options },
  })
  servers.push(server)
  return { server, router }
}

/** Waits until so many requests are in progress, and have had time for the way to their lock. */
async function arrived(server: Server, count: number): Promise<void> {
  await expect.poll(() => server.requestsInFlight).toBe(count)
  await pause(50)
}

/** Sends the same request many times at once and counts by status and `x-cache`. */
async function storm(server: Server, count: number, path = '/x') {
  const responses = await Promise.all(Array.from({ length: count }, () => server.inject.get(path)))
  const counts: Record<string, number> = {}
  for (const response of responses) {
    const how = `${response.statusCode()} ${response.headers()['x-cache']}`
    counts[how] = (counts[how] ?? 0) + 1
  }
  return { counts, responses }
}

test('500 concurrent misses run the handler once; one is MISS, the others WAIT', async () => {
  const { server, router } = makeServer()
  let runs = 0
  router.get('/x', { cache: true }, async () => {
    await arrived(server, 500)
    return ++runs
  })
  const { counts, responses } = await storm(server, 500)
  expect(counts).toEqual({ '200 MISS': 1, '200 WAIT': 499 })
  expect(new Set(responses.map((answer) => answer.body()))).toEqual(new Set([1]))
  expect(runs).toBe(1)
})

test('bypass: the others run the handler themselves', async () => {
  const { server, router } = makeServer({ lockBehavior: 'bypass' })
  let runs = 0
  router.get('/x', { cache: true }, async () => {
    runs++
    await arrived(server, 100)
    return 1
  })
  expect((await storm(server, 100)).counts).toEqual({ '200 MISS': 1, '200 BYPASS': 99 })
  expect(runs).toBe(100)
})

test('fail: the others get 503 CacheLockedError with retry-after, in seconds', async () => {
  const { server, router } = makeServer({ lockTimeout: 2500 })
  router.get('/x', { cache: { lockBehavior: 'fail' } }, async () => {
    // The others have had theirs.
    while (server.requestsInFlight > 1) await pause(5)
    await pause(50)
    return 1
  })
  const { counts, responses } = await storm(server, 100)
  expect(counts).toEqual({ '200 MISS': 1, '503 undefined': 99 })
  const locked = responses.find((answer) => answer.statusCode() === 503)!
  locked.assertHeader('retry-after', '3').assertBodySubset({ code: 'CacheLockedError' })
})

test('when the first one fails, the others run the handler at once, and no error is kept', async () => {
  const { server, router } = makeServer()
  let runs = 0
  router.get('/x', { cache: true }, async () => {
    if (++runs === 1) await arrived(server, 200)
    // One after the other they would never be all in it.
    else await expect.poll(() => runs).toBeGreaterThanOrEqual(200)
    if (runs <= 200) throw new Error('not yet')
    return 'well'
  })
  const { counts } = await storm(server, 200)
  expect(counts).toEqual({ '500 MISS': 200 })
  ;(await server.inject.get('/x')).assertStatus(200).assertHeader('x-cache', 'MISS')
  ;(await server.inject.get('/x')).assertHeader('x-cache', 'HIT')
})

test('when the client of the first one leaves, the others get their response', async () => {
  const { server, router } = makeServer()
  const leaver = new AbortController()
  let runs = 0
  router.get('/x', { cache: true }, async (req) => {
    if (++runs > 1) return runs
    await new Promise((_, reject) => req.signal.addEventListener('abort', () => reject(req.signal.reason)))
  })
  const first = server.inject({ url: '/x', signal: leaver.signal })
  await expect.poll(() => runs).toBe(1)
  const others = storm(server, 20)
  await arrived(server, 21)
  leaver.abort()
  expect((await first).status).toBe(500)
  expect((await others).counts).toEqual({ '200 MISS': 20 })
})

test('when the first one never ends, the others wait for the lock time-out and no longer', async () => {
  const { server, router } = makeServer({ lockTimeout: 150 })
  let runs = 0
  router.get('/x', { cache: true }, () => (++runs === 1 ? new Promise(() => {}) : 'mine'))
  void server.inject.get('/x')
  await expect.poll(() => runs).toBe(1)
  const started = performance.now()
  const { counts } = await storm(server, 50)
  const took = performance.now() - started
  expect(counts).toEqual({ '200 MISS': 50 })
  expect(took).toBeGreaterThan(140)
})

test('a response that may not be kept goes to no one else', async () => {
  const { server, router } = makeServer()
  let runs = 0
  router.get('/x', { cache: true }, async (_req, res) => {
    const mine = ++runs
    await pause(20)
    return res.appendHeader('set-cookie', `id=${mine}`).ok(mine)
  })
  const { responses } = await storm(server, 50)
  expect(new Set(responses.map((answer) => answer.body())).size).toBe(50)
})

test.each([
  'wait',
  'bypass',
  'fail',
] as const)('a computation that never ends blocks its key no longer than lockTimeout, with %s', async (lockBehavior) => {
  const { server, router } = makeServer({ lockTimeout: 60 })
  let runs = 0
  router.get('/x', { cache: { lockBehavior } }, () => (++runs === 1 ? new Promise(() => {}) : runs))
  void server.inject.get('/x')
  await expect.poll(() => runs).toBe(1)
  await pause(100)
  for (const how of ['MISS', 'HIT']) {
    ;(await server.inject.get('/x')).assertHeader('x-cache', how).assertBodyDeepEqual(2)
  }
})
