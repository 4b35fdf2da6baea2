import { AsyncLocalStorage } from 'node:async_hooks'
import { definePlugin, RouteCollection, Server } from 'framework'
import { requestContext } from 'framework/plugins'
import { currentContext } from 'framework/plugins/requestContext'
import { describe, expect, onTestFinished, test } from 'vitest'
import { memoryLogger, pause } from '../../support/kernel.ts'

declare module 'framework' {
  interface RequestContext {
    n?: string
    user?: { name: string }
    count?: number
  }
}

function serverWith(plugins: unknown) {
  return new Server<{}>({ plugins: plugins as {}, router: new RouteCollection(), logger: memoryLogger() })
}

describe('values', () => {
  test('are read at req.context and at currentContext()', async () => {
    const server = serverWith({ requestContext: { n: (req: { query: { n: string } }) => req.query.n } })
    server.get('/', (req) => [req.context.n, currentContext()?.n, currentContext() === req.context])
    ;(await server.inject.get('/?n=1')).assertBodyDeepEqual(['1', '1', true])
  })

  test('are made when first read, once, and may be assigned', async () => {
    let made = 0
    const server = serverWith({ requestContext: { count: () => ++made, n: () => 'made' } })
    server.get('/unread', () => 1)
    server.get('/read', (req) => {
      const { context } = req
      context.n = 'assigned'
      return [context.count, context.count, context.n, currentContext()?.n]
    })
    await server.inject.get('/unread')
    expect(made).toBe(0)
    ;(await server.inject.get('/read')).assertBodyDeepEqual([1, 1, 'assigned', 'assigned'])
    ;(await server.inject.get('/read')).assertBodySubset([2, 2])
  })

  test('can be logged and answered as a whole', async () => {
    const server = serverWith({ requestContext: { n: () => 'x', count: () => 5 } })
    server.get('/', (req) => {
      Object.assign(req.context, { extra: true, count: 6 })
      return req.context
    })
    ;(await server.inject.get('/')).assertBodyDeepEqual({ n: 'x', count: 6, extra: true })
  })

  test('undefined is not kept: a later middleware may find out', async () => {
    const login = (req: { user?: object; context: { user?: unknown } }, _res: unknown, next: () => void) => {
      expect(req.context.user).toBeUndefined()
      req.user = { name: 'ann' }
      return next()
    }
    const server = serverWith([requestContext({ user: (req) => (req as { user?: { name: string } }).user }), login])
    server.get('/', () => currentContext()?.user)
    ;(await server.inject.get('/')).assertBodyDeepEqual({ name: 'ann' })
  })

  test('a function that fails is a failure of the request that reads it, and may succeed later', async () => {
    let fails = true
    const server = serverWith({
      requestContext: {
        n: () => {
          if (fails) throw new Error('boom')
          return 'fine'
        },
      },
    })
    server.get('/', (req) => req.context.n)
    ;(await server.inject.get('/')).assertStatus(500)
    fails = false
    ;(await server.inject.get('/')).assertBodyDeepEqual('fine')
  })
})

describe('currentContext()', () => {
  const options = { requestContext: { n: (req: { query: { n: string } }) => req.query.n } }

  test('is undefined outside of a request', async () => {
    const server = serverWith(options)
    server.get('/', () => 1)
    await server.inject.get('/?n=1')
    expect(currentContext()).toBeUndefined()
  })

  test('goes through awaits, timers, callbacks and promises', async () => {
    const server = serverWith(options)
    const later = async () => {
      await null
      const fromTimer = await new Promise((resolve) => setTimeout(() => resolve(currentContext()?.n), 1))
      const fromTick = await new Promise((resolve) => process.nextTick(() => resolve(currentContext()?.n)))
      const fromImmediate = await new Promise((resolve) => setImmediate(() => resolve(currentContext()?.n)))
      const all = await Promise.all([1, 2].map(async () => currentContext()?.n))
      return [fromTimer, fromTick, fromImmediate, ...all]
    }
    server.get('/', later)
    ;(await server.inject.get('/?n=7')).assertBodyDeepEqual(['7', '7', '7', '7', '7'])
  })

  test('exists in bodies that are made piece by piece', async () => {
    const server = serverWith(options)
    const pieces = async function* () {
      for (let i = 0; i < 3; i++) {
        await pause(1)
        yield `${currentContext()?.n};`
      }
    }
    server.get('/stream', (_req, res) => res.stream(pieces()))
    server.get('/events', (_req, res) => res.sse(pieces()))
    const [one, two] = await Promise.all([server.inject.get('/stream?n=1'), server.inject.get('/stream?n=2')])
    expect([one?.text(), two?.text()]).toEqual(['1;1;1;', '2;2;2;'])
    expect((await server.inject.get('/events?n=3')).text()).toContain('data: 3;')
  })

  test('exists in hooks and in the error handler, unless the request failed before it', async () => {
    const seen: string[] = []
    const see = (where: string) => () => void seen.push(`${where} ${currentContext()?.n}`)
    const hooks = definePlugin({
      name: 'hooks',
      setup(ctx) {
        ctx.use((req, _res, next) => (req.query.n === 'early' ? next(new Error('early')) : next()))
        ctx.onSend(see('send'))
        ctx.onResponse(see('response'))
        ctx.onError(see('error'))
      },
    })
    const server = serverWith([hooks(), requestContext(options.requestContext as {})])
    server.setErrorHandler(async (_req, res) => {
      await null
      see('handler')()
      return res.text('failed')
    })
    server.get('/', () => Promise.reject(new Error('boom')))
    const get = async (n: string) => {
      seen.length = 0
      await server.inject.get(`/?n=${n}`)
      return [...seen]
    }
    expect(await get('1')).toEqual(['error 1', 'handler 1', 'send 1', 'response 1'])
    expect(await get('early')).toEqual(['error', 'handler', 'send', 'response'].map((where) => `${where} undefined`))
  })

  test('a generator whose reader leaves is ended within the context', async () => {
    const server = serverWith(options)
    let seen: unknown
    const body = async function* () {
      try {
        yield 'a'
      } finally {
        seen = currentContext()?.n
      }
    }
    server.get('/', (_req, res) => res.stream(body()))
    const response = await server.fetch(new Request('http://localhost/?n=4'))
    const reader = response.body?.getReader()
    await reader?.read()
    await reader?.cancel()
    await pause(5)
    expect(seen).toBe('4')
  })

  test('never leaks between 1000 concurrent requests', async () => {
    const server = serverWith(options)
    server.get('/', async (req) => {
      await pause(Math.random() * 20)
      const before = currentContext()?.n
      await new Promise((resolve) => setImmediate(resolve))
      return [req.query.n, before, currentContext()?.n, req.context.n]
    })
    const answers = await Promise.all(
      Array.from({ length: 1_000 }, async (_, i) => (await server.inject.get(`/?n=${i}`)).body() as string[]),
    )
    answers.forEach((answer, i) => {
      expect(new Set(answer)).toEqual(new Set([String(i)]))
    })
  })

  test('an inner request has its own, and the outer one its own again', async () => {
    const server = serverWith(options)
    server.get('/inner', () => currentContext()?.n)
    server.get('/outer', async () => {
      const inner = (await server.inject.get('/inner?n=2')).body()
      return [currentContext()?.n, inner]
    })
    ;(await server.inject.get('/outer?n=1')).assertBodyDeepEqual(['1', '2'])
  })

  test('another AsyncLocalStorage is left alone', async () => {
    const other = new AsyncLocalStorage<number>()
    onTestFinished(() => other.disable())
    const server = serverWith([
      (_req: unknown, _res: unknown, next: () => unknown) => other.run(5, next),
      requestContext({}),
    ])
    server.get('/', () => other.getStore())
    ;(await server.inject.get('/')).assertBodyDeepEqual(5)
  })
})

describe('where it holds', () => {
  test('404 and failures have it, hooks read it at req.context', async () => {
    const seen: unknown[] = []
    const hooks = definePlugin({
      name: 'hooks',
      setup(ctx) {
        ctx.onSend((req) => void seen.push(req.context.n))
        ctx.onResponse((req) => void seen.push(req.context.n))
      },
    })
    const server = serverWith([hooks(), requestContext({ n: () => 'x' })])
    server.setNotFoundHandler((_req, res) => res.notFound(currentContext()?.n))
    ;(await server.inject.get('/nowhere')).assertStatus(404).assertBodyDeepEqual('x')
    expect(seen).toEqual(['x', 'x'])
  })

  test('req.context exists before the middleware has run', async () => {
    const early = (req: { context: { n?: string } }, res: { ok(body: unknown): unknown }) => void res.ok(req.context.n)
    const server = serverWith([early, requestContext({ n: () => 'x' })])
    ;(await server.inject.get('/')).assertBodyDeepEqual('x')
  })

  test('values that were read or set before the middleware has run are kept', async () => {
    let made = 0
    const early = (req: { context: { n?: string; count?: number } }, _res: unknown, next: () => void) => {
      req.context.n = `set ${req.context.count}`
      return next()
    }
    const server = serverWith([early, requestContext({ count: () => ++made })])
    server.get('/', (req) => [req.context.n, currentContext()?.count])
    const part = definePlugin({
      name: 'part',
      scoped: true,
      setup(ctx) {
        ctx.register(requestContext({ count: () => 10 }))
        ctx.get('/part', (req) => [req.context.n, currentContext()?.count])
      },
    })
    server.register(part())
    ;(await server.inject.get('/')).assertBodyDeepEqual(['set 1', 1])
    ;(await server.inject.get('/part')).assertBodyDeepEqual(['set 10', 10])
  })

  test('a scope may have its own', async () => {
    const server = serverWith({ requestContext: { n: () => 'outer' } })
    const part = definePlugin({
      name: 'part',
      scoped: true,
      setup(ctx) {
        ctx.register(requestContext({ n: () => 'inner' }))
        ctx.get('/part', (req) => [req.context.n, currentContext()?.n])
      },
    })
    server.register(part())
    server.get('/', (req) => [req.context.n, currentContext()?.n])
    ;(await server.inject.get('/part')).assertBodyDeepEqual(['inner', 'inner'])
    ;(await server.inject.get('/')).assertBodyDeepEqual(['outer', 'outer'])
  })
})

describe('options', () => {
  test.each([
    [{ n: 'text' }, /requestContext\.n/],
    [{ n: undefined }, /requestContext\.n/],
    [{ constructor: () => 1 }, /requestContext\.constructor/],
    [[], /requestContext/],
    [() => 1, /requestContext/],
    [
      { n: 1, valueOf: 5 },
      /2 options are wrong:\n.*"requestContext\.n" is 1; it takes a function of the request\n.*valueOf/,
    ],
  ])('%o is refused when it is registered', (options, message) => {
    expect(() => serverWith([requestContext(options as never)])).toThrow(message)
  })
})
