import { cron, memoryQueue, QueueService, RouteCollection, Server } from 'framework'
import { type TestClock, testClock } from 'framework/testing'
import { afterEach, beforeEach, expect, test } from 'vitest'

let clock: TestClock
beforeEach(() => {
  clock = testClock('2026-03-01T08:00:00Z')
})
afterEach(() => clock.restore())

test('a session ends a day after its last change', async () => {
  await using server = new Server({
    router: new RouteCollection(),
    plugins: { session: { secret: 'a-secret-for-tests-only-0123456789abcdef', ttl: 86_400 } },
  })
  server.post('/login', (req) => Object.assign(req.session, { user: 'ada' }))
  server.get('/me', (req, res) => ('user' in req.session ? req.session : res.unauthorized()))
  const cookies = (await server.inject.post('/login')).cookies()
  await clock.advance('23 hours')
  ;(await server.inject.get('/me', { cookies })).assertStatus(200)
  await clock.advance('1 hour')
  ;(await server.inject.get('/me', { cookies })).assertStatus(401)
})

test('a client may try again after a minute', async () => {
  await using server = new Server({ router: new RouteCollection(), plugins: { rateLimit: { limit: 2 } } })
  server.get('/', () => 'here')
  for (const status of [200, 200, 429]) (await server.inject.get('/')).assertStatus(status)
  await clock.advance('1 minute')
  ;(await server.inject.get('/')).assertStatus(200)
})

test('a response is computed again when it has expired', async () => {
  await using server = new Server({ router: new RouteCollection(), plugins: { cache: { provider: 'memory' } } })
  server.get('/', { cache: { ttl: 300 } }, () => new Date(clock.now()).toISOString())
  const first = (await server.inject.get('/')).body()
  await clock.advance('299 s')
  expect((await server.inject.get('/')).body()).toBe(first)
  await clock.advance('1 s')
  expect((await server.inject.get('/')).body()).not.toBe(first)
})

test('the report is written every night of a month', async () => {
  const nights: string[] = []
  const report = cron('0 2 * * *', { name: 'report' })
  await report.start(async ({ scheduledAt }) => {
    // Takes real time, for which the clock waits.
    await new Promise((resolve) => setTimeout(resolve, 1))
    nights.push(scheduledAt.toISOString())
  })
  await using server = new Server({
    router: new RouteCollection(),
    port: 0,
    plugins: { cron: { crons: [], timezone: 'UTC' } },
  })
  await server.listen()
  await clock.advance('30 days')
  report.destroy()
  expect(nights).toHaveLength(30)
  expect(nights[0]).toBe('2026-03-02T02:00:00.000Z')
})

test('an invoice is sent again after a second, then two, then four', async () => {
  const attempts: number[] = []
  const invoices = memoryQueue<{ invoice: number }>('invoices')
  await QueueService.run()
  const { unsubscribe } = await invoices.subscribe(() => {
    attempts.push(clock.now() - Date.UTC(2026, 2, 1, 8))
    if (attempts.length < 4) throw new Error('the service is down')
  })
  await invoices.publish({ invoice: 1 }, { attempts: 4, backoff: { type: 'exponential', delay: 1000 } })
  await clock.advance('10 s')
  await unsubscribe()
  await QueueService.stop()
  expect(attempts).toEqual([0, 1000, 3000, 7000])
})
