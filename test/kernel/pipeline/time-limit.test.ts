import { once } from 'node:events'
import { connect } from 'node:net'
import { PolicyManager, Server } from 'framework'
import {
  type Context,
  definePlugin,
  type KernelOptions,
  type Middleware,
  type Request,
  type Response,
  RouteCollection,
} from 'framework/kernel'
import { testClock } from 'framework/testing'
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { sendRaw } from '../../conformance/raw-client.ts'
import { makeKernel, memoryLogger, pause, send } from '../../support/kernel.ts'

const never = () => new Promise<never>(() => {})
const requestTimeout = 40
const make = (options: KernelOptions = {}) => makeKernel({ requestTimeout, ...options })
const late = { status: 503, json: { code: 'RequestTimeoutError' } }

describe('a step that does not settle is given up after the request timeout, and named in the log', () => {
  test.each(['scope', 'group', 'guard', 'route', 'input', 'around'] as const)('a step: %s', async (slot) => {
    const { kernel, router, log } = make()
    const stuck: Middleware = async function stuck() {
      await never()
    }
    kernel.register(
      definePlugin({
        name: 'slots',
        setup(ctx) {
          if (slot === 'scope') ctx.use(stuck)
          else if (slot !== 'group' && slot !== 'route') ctx.onRoute((route) => route.add(slot, stuck))
        },
      })(),
    )
    let reached = false
    const handler = () => {
      reached = true
    }
    const around: Middleware[] = slot === 'group' ? [stuck] : []
    router.group('/g', around, (r) => r.get('/x', { middlewares: slot === 'route' ? [stuck] : [] }, handler))
    const answer = await send(kernel, '/g/x')
    expect(answer).toMatchObject(late)
    expect(answer.text).not.toContain('stuck')
    expect(log[0]?.message).toMatch(/stuck neither answered nor called next\(\) within 40 ms/)
    expect(reached).toBe(false)
  })

  test('a handler', async () => {
    const { kernel, router, log } = make()
    router.get('/x/:id', never)
    expect(await send(kernel, '/x/1')).toMatchObject(late)
    expect(log[0]?.message).toMatch(/the handler of GET \/x\/:id did not answer within 40 ms/)
  })

  test('a middleware that hangs when the handler has answered', async () => {
    const { kernel, router, log } = make()
    const stuck: Middleware = async function stuck(_req, _res, next) {
      await next()
      await never()
    }
    router.get('/x', [stuck], async () => 'answered')
    expect(await send(kernel, '/x')).toMatchObject(late)
    expect(log[0]?.message).toMatch(/stuck did not end after next\(\) within 40 ms/)
  })

  test('an onSend hook: the others still run', async () => {
    const { kernel, router, log } = make()
    kernel.register(
      definePlugin({
        name: 'store',
        setup(ctx) {
          ctx.onSend(never)
          ctx.onSend((_req, res) => void res.setHeader('x-other', 'ran'))
        },
      })(),
    )
    router.get('/x', () => 'never sent')
    const answer = await send(kernel, '/x')
    expect(answer).toMatchObject(late)
    expect(answer.headers['x-other']).toBe('ran')
    expect(log[0]?.message).toMatch(/an onSend hook of the plugin "store" did not settle within 40 ms/)
  })

  test('the error handler', async () => {
    const { kernel, router, log } = make()
    kernel.setErrorHandler(never)
    router.get('/x', () => {
      throw new Error('on purpose')
    })
    expect(await send(kernel, '/x')).toMatchObject(late)
    expect(log[0]?.message).toMatch(/the error handler did not settle within 40 ms/)
  })

  test('the error handler, too: then no code of the application runs any more', async () => {
    const { kernel, router, log } = make()
    const hooks: string[] = []
    const stuck = (name: string) => () => {
      hooks.push(name)
      return never()
    }
    kernel.register(
      definePlugin({
        name: 'stores',
        setup(ctx) {
          ctx.onSend(stuck('first'))
          ctx.onSend(stuck('second'))
        },
      })(),
    )
    router.get('/x', never)
    expect(await send(kernel, '/x')).toMatchObject(late)
    expect(hooks).toEqual(['first'])
    expect(log.map(({ level }) => level)).toEqual(['error', 'error'])
  })

  describe('of a plugin', () => {
    const server = (timeout: false | { ms: number } = false) => {
      const logger = memoryLogger()
      const router = new RouteCollection()
      const made = new Server({ router, logger, gracefulShutdown: false, requestTimeout, plugins: { timeout } })
      return { made, log: logger.entries }
    }

    test('a policy', async () => {
      const { made, log } = server()
      const manager = new PolicyManager({ post: { read: never } })
      made.get('/x', { policy: { manager, scope: 'post', handler: 'read' } }, () => 'open')
      const answer = await made.inject.get('/x')
      answer.assertStatus(503).assertBodySubset({ code: 'RequestTimeoutError' })
      expect(log.find(({ level }) => level === 'error')?.message).toMatch(/neither answered nor called next\(\)/)
    })

    test('a validation', async () => {
      const { made } = server()
      const schema = { '~standard': { version: 1 as const, vendor: 'test', validate: never } }
      made.get('/x', { query: schema }, () => 'open')
      ;(await made.inject.get('/x')).assertStatus(503).assertBodySubset({ code: 'RequestTimeoutError' })
    })

    test('the limit of a route takes the place of the one of the server', async () => {
      const { made } = server({ ms: 60_000 })
      const slow = async () => {
        await pause(requestTimeout * 3)
        return 'slow'
      }
      made.get('/plain', slow)
      made.get('/longer', { timeout: 50_000 }, slow)
      made.get('/none', { timeout: false }, slow)
      for (const path of ['/plain', '/longer', '/none']) (await made.inject.get(path)).assertStatus(200)
    })
  })
})

describe('the time of a request', () => {
  test('counts all of its steps together', async () => {
    const clock = testClock()
    onTestFinished(() => clock.restore())
    let begun = false
    const { kernel, router, log } = make({ requestTimeout: 100 })
    const step = (name: string): Middleware =>
      Object.defineProperty(
        async (_req: unknown, _res: unknown, next: () => unknown) => {
          begun = true
          await clock.sleep(70)
          await next()
        },
        'name',
        { value: name },
      ) as Middleware
    router.get('/x', [step('first'), step('second')], () => 'never')
    const answer = send(kernel, '/x')
    await expect.poll(() => begun).toBe(true)
    await clock.advance(100)
    expect(await answer).toMatchObject(late)
    expect(log[0]?.message).toMatch(/second neither answered/)
  })

  test('does not count a stream that is being sent', async () => {
    const { kernel, router, log } = make()
    router.get('/x', (_req, res) =>
      res.stream(
        (async function* () {
          yield 'one '
          await pause(requestTimeout * 2)
          yield 'two'
        })(),
      ),
    )
    expect(await send(kernel, '/x')).toMatchObject({ status: 200, text: 'one two' })
    expect(log).toEqual([])
  })

  test('does not count the arrival of a body, which has a time of its own', async () => {
    const clock = testClock()
    onTestFinished(() => clock.restore())
    const { kernel, router } = make({ requestTimeout: 80 })
    const begun: string[] = []
    const read = async (req: Request) => {
      begun.push(req.path)
      return Buffer.from(await req.raw.bytes(100)).toString()
    }
    router.post('/read', read)
    router.post('/read-then-hang', async (req) => {
      begun.push(await read(req))
      await never()
    })
    router.post('/unread', (req) => {
      begun.push(req.path)
      return never()
    })
    const { port } = await kernel.listen()
    const ask = async (path: string) => {
      const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 4\r\n\r\n`
      const client = connect(port, '127.0.0.1', () => client.write(head))
      const status = once(client, 'data').then(([data]) => String(data).slice(9, 12))
      await expect.poll(() => begun).toContain(path)
      return { client, status }
    }
    const [whole, hanging, unread] = [await ask('/read'), await ask('/read-then-hang'), await ask('/unread')]
    await clock.advance(200)
    expect(await unread.status).toBe('503')
    whole.client.write('slow')
    expect(await whole.status).toBe('200')
    hanging.client.write('slow')
    await expect.poll(() => begun).toContain('slow')
    await clock.advance(80)
    expect(await hanging.status).toBe('503')
    await kernel.close()
  })

  test('0 turns the limit off', async () => {
    const { kernel, router } = make({ requestTimeout: 0 })
    router.get('/x', async () => {
      await pause(20)
      return 'there'
    })
    expect((await send(kernel, '/x')).json).toBe('there')
  })

  test('leaves no timer', async () => {
    const { kernel, router } = make({ requestTimeout: 60_000 })
    router.get('/x', async () => 'x')
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
    const before = timers()
    for (let i = 0; i < 20; i++) await send(kernel, '/x')
    expect(timers() - before).toBeLessThan(10)
  })
})

describe('late calls', () => {
  const unhandled: unknown[] = []
  const note = (error: unknown) => void unhandled.push(error)
  beforeAll(() => void process.on('unhandledRejection', note))
  afterAll(() => void process.off('unhandledRejection', note))
  afterEach(() => {
    expect(unhandled).toEqual([])
  })

  test('begins no later step', async () => {
    const { kernel, router, log } = make()
    let handled = false
    const slow: Middleware = async (_req, _res, next) => {
      await pause(requestTimeout * 2)
      await next()
    }
    router.get('/x', [slow], () => {
      handled = true
    })
    expect(await send(kernel, '/x')).toMatchObject(late)
    await pause(requestTimeout * 2)
    expect([handled, log.length]).toEqual([false, 1])
  })

  test('is not heard: neither a value, nor a failure; a stream is let go of', async () => {
    const { kernel, router, log } = make()
    let released = false
    const body = new ReadableStream({
      cancel() {
        released = true
      },
    })
    const slowly = (give: () => unknown) => async () => {
      await pause(requestTimeout * 2)
      return give()
    }
    router.get(
      '/value',
      slowly(() => ({ late: true })),
    )
    router.get(
      '/stream',
      slowly(() => body),
    )
    router.get(
      '/failure',
      slowly(() => Promise.reject(new Error('late'))),
    )
    const answers = await Promise.all(['/value', '/stream', '/failure'].map((path) => send(kernel, path)))
    expect(answers.map(({ status }) => status)).toEqual([503, 503, 503])
    await expect.poll(() => released).toBe(true)
    await pause(requestTimeout)
    expect(log.map(({ message }) => message?.includes('did not answer within'))).toEqual([true, true, true])
  })

  describe('have no effect on the response to the time-out while something waits', () => {
    const waiting = async () => {
      await pause(requestTimeout)
    }
    const lateHeaders = async (_req: Request, res: Response) => {
      await pause(requestTimeout * 1.5)
      res.header('set-cookie', 'sid=late').header('cache-control', 'public').header('x-early', 'changed')
      res.removeHeader('content-type').json({ late: true })
    }
    const hook = (onSend: Parameters<Context['onSend']>[0]) =>
      definePlugin({
        name: 'hooks',
        setup(ctx) {
          ctx.use((_req, res, next) => {
            res.header('x-early', 'yes')
            return next()
          })
          ctx.onSend(onSend)
        },
      })()

    test('an onSend hook', async () => {
      const { kernel, router } = make()
      kernel.register(hook(waiting))
      router.get('/x', lateHeaders)
      const answer = await send(kernel, '/x')
      expect(answer).toMatchObject(late)
      expect({ ...answer.headers }).toEqual({
        'x-early': 'yes',
        'content-type': 'application/json; charset=utf-8',
        'content-length': String(answer.text.length),
      })
    })

    test('a middleware, which sees no success that a cache would keep', async () => {
      const { kernel, router } = make()
      const seen: unknown[] = []
      const watch: Middleware = async (_req, res, next) => {
        await next()
        seen.push(res.statusCode)
      }
      kernel.register(hook(waiting))
      router.get('/x', [watch], lateHeaders)
      expect(await send(kernel, '/x')).toMatchObject(late)
      expect(seen).toEqual([503])
    })

    test('the error handler', async () => {
      const { kernel, router } = make({ requestTimeout: 0 })
      kernel.setErrorHandler(async (_req, res) => {
        await waiting()
        res.status(504).send('mine')
      })
      router.get('/x', async (req, res) => {
        req.abort(new Error('given up'))
        void lateHeaders(req, res)
        await pause(requestTimeout / 2)
        throw req.signal.reason
      })
      const answer = await send(kernel, '/x')
      expect([answer.status, answer.json, answer.headers['set-cookie']]).toEqual([504, 'mine', undefined])
    })

    test('those who hold the response see what has left', async () => {
      const { kernel, router } = make()
      const seen: unknown[] = []
      kernel.register(hook((_req, res) => void res.header('x-hook', 'ran')))
      router.get('/x', (req, res) => {
        const { statusCode, sent, aborted } = res as Response & { sent: boolean; aborted: boolean }
        expect([statusCode, sent, aborted]).toEqual([200, false, false])
        req.raw.onSettled(() => {
          const { statusCode, sent, aborted } = res as Response & { sent: boolean; aborted: boolean }
          seen.push(statusCode, sent, aborted, res.getHeader('x-hook'))
        })
        return never()
      })
      const { text } = await send(kernel, '/x')
      expect(seen).toEqual([503, true, false, 'ran'])
      expect(text).toContain('RequestTimeoutError')
    })
  })

  test('sees by the signal that it was given up', async () => {
    const { kernel, router } = make()
    let reason: unknown
    router.get('/x', async (req) => {
      await new Promise((resolve) => req.signal.addEventListener('abort', resolve))
      reason = req.signal.reason
    })
    expect(await send(kernel, '/x')).toMatchObject(late)
    await expect.poll(() => reason).toMatchObject({ code: 'RequestTimeoutError' })
  })

  test('on a socket, the connection serves the next request', async () => {
    const { kernel, router } = make()
    router.get('/hang', never)
    router.get('/hello', () => 'hello')
    const { port } = await kernel.listen()
    const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`
    const { statuses } = await sendRaw(port, get('/hang') + get('/hello'), { answers: 2 })
    expect(statuses).toEqual([503, 200])
    await kernel.close()
  })
})
