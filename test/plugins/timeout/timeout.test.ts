import { createReadStream } from 'node:fs'
import { definePlugin, type Middleware, type Request, type Response, RouteCollection, Server } from 'framework'
import { clock } from 'framework/kernel'
import { timeout } from 'framework/plugins'
import { testClock } from 'framework/testing'
import { describe, expect, test } from 'vitest'
import { memoryLogger, pause } from '../../support/kernel.ts'

function serverWith(plugins: unknown) {
  const logger = memoryLogger()
  const server = new Server<{}>({ plugins: plugins as {}, router: new RouteCollection(), logger })
  return { server, log: logger.entries }
}
const slow = (ms: number) => async () => {
  await pause(ms)
  return 'late'
}
/** Resolves after the request was given up: a pause that is longer than the limit may end before it on a busy machine. */
const givenUp = ({ signal }: Request) =>
  new Promise<void>((resolve) => signal.addEventListener('abort', () => setTimeout(resolve, 1)))
const tooLate = async (req: Request) => {
  await givenUp(req)
  return 'late'
}
const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length

describe('a handler that takes too long', () => {
  test('gets 503, and logged with its route', async () => {
    const { server, log } = serverWith({ timeout: { ms: 20 } })
    server.get('/slow/:id', tooLate)
    const res = await server.inject.get('/slow/1')
    res.assertStatus(503).assertBodyDeepEqual({
      code: 'RequestTimeoutError',
      message: 'REQUEST_TIMEOUT: GET /slow/:id did not respond within 20 ms',
    })
    await pause(60)
    expect(log.map(({ level, message }) => [level, message])).toEqual([
      ['error', 'REQUEST_TIMEOUT: GET /slow/:id did not respond within 20 ms'],
    ])
  })

  test('learns that by the signal, with the error as reason', async () => {
    const { server } = serverWith({ timeout: { ms: 20 } })
    let reason: unknown
    server.get('/', async (req) => {
      await new Promise((resolve) => req.signal.addEventListener('abort', resolve))
      reason = req.signal.reason
      throw reason
    })
    ;(await server.inject.get('/')).assertStatus(503)
    expect(reason).toMatchObject({ code: 'RequestTimeoutError', status: 503 })
  })

  test('may respond, throw or set headers afterwards: it is silently dropped', async () => {
    const { server, log } = serverWith({ timeout: { ms: 10 } })
    const late: string[] = []
    server.get('/responds', async (req, res) => {
      await givenUp(req)
      res.status(200).setHeader('x-late', '1').json({ late: true })
      late.push('responds')
    })
    server.get('/throws', async (req) => {
      await givenUp(req)
      late.push('throws')
      throw new Error('late')
    })
    server.get('/in-abort', (req, res) => {
      return new Promise((resolve) => {
        req.signal.addEventListener('abort', () => resolve(res.ok('from the listener')))
      })
    })
    for (const path of ['/responds', '/throws', '/in-abort']) {
      const res = await server.inject.get(path)
      res.assertStatus(503).assertHeaderNotExists('x-late').assertBodySubset({ code: 'RequestTimeoutError' })
    }
    await expect.poll(() => late).toEqual(['responds', 'throws'])
    await pause(50)
    expect(log.filter(({ level }) => level === 'error')).toHaveLength(3)
    expect(log.filter(({ level }) => level === 'warn')).toEqual([])
  })

  test('is dropped also while something waits that responds to the time-out', async () => {
    const late = async (req: Request, res: Response) => {
      await givenUp(req)
      res.header('x-late', '1')
      return { secret: true }
    }
    const saves = definePlugin({ name: 'saves', setup: (ctx) => void ctx.onSend(() => pause(20)) })
    const outer: Middleware = async (_req, res, next) => {
      try {
        await next()
      } catch {
        await pause(20)
        res.status(504).json({ sorry: true })
      }
    }
    for (const [plugins, status] of [
      [[timeout({ ms: 10 }), saves()], 503],
      [[outer, timeout({ ms: 10 })], 504],
    ] as const) {
      const { server, log } = serverWith(plugins)
      server.get('/', late)
      const res = await server.inject.get('/')
      res.assertStatus(status)
      expect(String(res.body)).not.toContain('secret')
      if (status === 503) res.assertHeaderNotExists('x-late')
      expect(log.filter(({ level }) => level === 'warn')).toEqual([])
    }
  })

  test('may return a stream afterwards: it is closed, for no one reads it', async () => {
    const { server } = serverWith({ timeout: { ms: 10 } })
    const file = createReadStream(import.meta.filename)
    server.get('/', async (req) => {
      await givenUp(req)
      return file
    })
    ;(await server.inject.get('/')).assertStatus(503)
    await expect.poll(() => file.closed).toBe(true)
  })

  test('is answered even when it never settles', async () => {
    const { server } = serverWith({ timeout: { ms: 10 } })
    server.get('/', () => new Promise(() => {}))
    ;(await server.inject.get('/')).assertStatus(503)
  })
})

describe('the counted time', () => {
  test('middlewares after the plugin, and reading the body', async () => {
    const { server } = serverWith({ timeout: { ms: 20 }, json: true })
    server.post('/', (req) => req.body)
    async function* body() {
      yield Buffer.from('{')
      await pause(500)
      yield Buffer.from('}')
    }
    const headers = { 'content-type': 'application/json', 'transfer-encoding': 'chunked' }
    const { status } = await server.inject({ url: '/', method: 'POST', body: body(), headers })
    expect(status).toBe(503)

    const { server: other } = serverWith([timeout({ ms: 20 }), () => {}])
    other.get('/', () => 1)
    ;(await other.inject.get('/')).assertStatus(503)
  })

  test('not earlier steps', async () => {
    using time = testClock()
    let sleeps = 0
    const sleep = (ms: number) => {
      sleeps++
      return clock.sleep(ms)
    }
    const before = async (_req: unknown, _res: unknown, next: () => Promise<void>) => {
      await sleep(40)
      return next()
    }
    const { server } = serverWith([before, timeout({ ms: 30 })])
    server.get('/', () => sleep(5))
    const response = server.inject.get('/')
    await expect.poll(() => sleeps).toBe(1)
    await time.advance(40)
    await expect.poll(() => sleeps).toBe(2)
    await time.advance(5)
    ;(await response).assertStatus(200)
  })

  test('not a stream that has begun', async () => {
    using time = testClock()
    const { server } = serverWith({ timeout: { ms: 20 } })
    let isAsleep = false
    server.get('/', (_req, res) =>
      res.stream(
        (async function* () {
          yield 'a'
          isAsleep = true
          await clock.sleep(60)
          yield 'b'
        })(),
      ),
    )
    const response = server.inject.get('/')
    await expect.poll(() => isAsleep).toBe(true)
    await time.advance(100)
    const res = await response
    res.assertStatus(200)
    expect(res.text()).toBe('ab')
  })

  test('a failure in time passes through as it is', async () => {
    const { server } = serverWith({ timeout: { ms: 50_000 } })
    server.setErrorHandler((_req, res, _next, error) => res.status(418).json({ message: (error as Error).message }))
    server.get('/', async () => {
      await pause(1)
      throw new Error('boom')
    })
    ;(await server.inject.get('/')).assertStatus(418).assertBodyDeepEqual({ message: 'boom' })
  })
})

describe('a route of its own', () => {
  test('has another limit, or none, for its GET and HEAD', async () => {
    const { server } = serverWith({ timeout: { ms: 20 } })
    server.get('/patient', { timeout: 60_000 }, slow(60))
    server.get('/endless', { timeout: false }, slow(60))
    server.get('/hasty', { timeout: 5 }, tooLate)
    for (const method of ['GET', 'HEAD']) {
      expect((await server.inject({ method, url: '/patient' })).status).toBe(200)
      expect((await server.inject({ method, url: '/endless' })).status).toBe(200)
      expect((await server.inject({ method, url: '/hasty' })).status).toBe(503)
    }
  })

  test('with an impossible limit fails the boot', async () => {
    for (const limit of [0, -1, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31, '5s', true, null]) {
      const { server } = serverWith({ timeout: true })
      server.get('/', { timeout: limit as never }, () => 1)
      await expect(server.ready()).rejects.toThrow(/GET \/ .*timeout/)
    }
  })

  test('a scope may have its own', async () => {
    const { server } = serverWith({ timeout: { ms: 20 } })
    const part = definePlugin({
      name: 'part',
      scoped: true,
      setup(ctx) {
        ctx.register(timeout({ ms: 50_000 }))
        ctx.get('/part', slow(60))
      },
    })
    server.register(part())
    server.get('/', tooLate)
    ;(await server.inject.get('/part')).assertStatus(200)
    ;(await server.inject.get('/')).assertStatus(503)
  })
})

describe('timers', () => {
  test('none is made for a chain that ends at once', async () => {
    const { server } = serverWith({ timeout: { ms: 60_000 } })
    let during = -1
    server.get('/', () => {
      queueMicrotask(() => {
        during = timers()
      })
      return 1
    })
    await server.ready()
    const before = timers()
    await server.inject.get('/')
    expect(during).toBe(before)
  })

  test('none is left after 10 000 requests', async () => {
    const { server } = serverWith({ timeout: { ms: 60_000 } })
    server.get('/', async () => {
      await null
      return 1
    })
    server.get('/boom', async () => {
      await null
      throw new Error('boom')
    })
    await server.ready()
    const before = timers()
    for (let i = 0; i < 5_000; i++) {
      await server.inject({ url: '/' })
      await server.inject({ url: '/boom' })
    }
    expect(timers()).toBe(before)
  })
})

describe('options', () => {
  test.each([
    [{ ms: 0 }, /timeout\.ms/],
    [{ ms: '5s' }, /milliseconds/],
    [{ ms: null }, /timeout\.ms" is null/],
    [{ ms: 2 ** 31 }, /timeout\.ms/],
    [{ millis: 5 }, /timeout\.millis/],
  ])('%j is refused', (options, message) => {
    expect(() => serverWith({ timeout: options })).toThrow(message)
  })
})
