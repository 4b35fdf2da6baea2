import { createHook } from 'node:async_hooks'
import { definePlugin, type Middleware } from 'framework/kernel'
import { describe, expect, test } from 'vitest'
import { makeKernel, pause, send } from '../../support/kernel.ts'

describe('the order of a request', () => {
  test('is scope, group, guard, route, input, around, handler', async () => {
    const { kernel, router } = makeKernel()
    const order: string[] = []
    const step =
      (name: string): Middleware =>
      async (_req, _res, next) => {
        order.push(name)
        await next()
        order.push(`/${name}`)
      }
    kernel.register(
      definePlugin({
        name: 'slots',
        setup(ctx) {
          ctx.onRoute((route) => {
            for (const slot of ['around', 'input', 'guard'] as const) route.add(slot, step(slot))
          })
          ctx.use(step('scope'))
        },
      })(),
    )
    router.group('/g', [step('group')], (routes) => {
      routes.get('/x', { middlewares: [step('route')] }, () => {
        order.push('handler')
        return 'x'
      })
    })
    await send(kernel, '/g/x')
    const names = ['scope', 'group', 'guard', 'route', 'input', 'around']
    expect(order).toEqual([...names, 'handler', ...names.map((name) => `/${name}`).reverse()])
    expect(kernel.explain('GET', '/g/x').steps.map((one) => one.slot)).toEqual([...names, 'handler'])
  })

  test('an unknown slot is an error that names the route', async () => {
    const { kernel, router } = makeKernel()
    router.get('/x', () => 'x')
    kernel.register(
      definePlugin({ name: 'p', setup: (ctx) => ctx.onRoute((route) => route.add('before' as never, () => {})) })(),
    )
    await expect(kernel.ready()).rejects.toThrow(
      /GET \/x cannot be compiled: .*there is no slot "before".*\(plugin "p"\)/,
    )
  })
})

describe('the result of a handler', () => {
  test.each([
    [0, '0'],
    ['', '""'],
    [false, 'false'],
    [null, 'null'],
    ['text', '"text"'],
    [{ a: [1] }, '{"a":[1]}'],
  ])('a returned %j is the body', async (value, text) => {
    const { kernel, router } = makeKernel()
    router.get('/sync', () => value)
    router.get('/async', async () => value)
    expect(await send(kernel, '/sync')).toMatchObject({ status: 200, text })
    expect(await send(kernel, '/async')).toMatchObject({ status: 200, text })
  })

  test('nothing is 200 with an empty body, also when a promise resolves', async () => {
    const { kernel, router } = makeKernel()
    router.get('/sync', () => {})
    router.get('/async', async () => {})
    for (const path of ['/sync', '/async']) {
      const res = await send(kernel, path)
      expect(res).toMatchObject({ status: 200, text: '' })
      expect(res.headers['content-length']).toBe('0')
    }
  })

  test('a status set before a returned value is kept, the response returned is nothing', async () => {
    const { kernel, router } = makeKernel()
    router.get('/status', (_req, res) => {
      res.status(201)
      return { a: 1 }
    })
    router.get('/self', (_req, res) => res.created({ a: 2 }))
    expect(await send(kernel, '/status')).toMatchObject({ status: 201, text: '{"a":1}' })
    expect(await send(kernel, '/self')).toMatchObject({ status: 201, text: '{"a":2}' })
  })

  test('an error that is returned counts as thrown', async () => {
    const { kernel, router, log } = makeKernel()
    const seen: unknown[] = []
    const failure = new TypeError('returned on purpose')
    router.get('/sync', () => failure)
    router.get('/async', async () => failure)
    router.get('/status', (_req, res) => {
      res.status(201)
      return failure
    })
    for (const path of ['/sync', '/async', '/status']) {
      expect(await send(kernel, path)).toMatchObject({ status: 500, text: '' })
      expect(log.splice(0)).toEqual([
        expect.objectContaining({ level: 'error', message: `GET ${path} failed with TypeError: returned on purpose` }),
      ])
    }
    kernel.setErrorHandler((_req, res, _next, error) => {
      seen.push(error)
      return res.status(418).json('handled')
    })
    expect((await send(kernel, '/async')).status).toBe(418)
    expect(seen).toEqual([failure])
    expect(log).toEqual([])
  })

  test('an error that is returned after a response is logged, and the response is kept', async () => {
    const { kernel, router, log } = makeKernel()
    router.get('/x/:id', (_req, res) => {
      res.ok('sent')
      return new Error('returned on purpose')
    })
    expect(await send(kernel, '/x/1')).toMatchObject({ status: 200, text: '"sent"' })
    expect(log.map(({ message }) => message)).toEqual(['GET /x/:id returned an error after its response'])
  })

  test.each([
    ['a Map', new Map([['a', 1]]), /nothing of the Map would be left. Respond with plain data/],
    ['a Set', new Set([1]), /the Set/],
    ['a RegExp', /a/, /the RegExp/],
    ['headers of the web', new Headers({ a: 'b' }), /the Headers/],
    [
      'an iterable class',
      new (class {
        *[Symbol.iterator]() {}
      })(),
      /an iterable/,
    ],
  ])('%s, which JSON would empty, is a failure that says so', async (_name, value, message) => {
    const { kernel, router, log } = makeKernel()
    router.get('/returned', () => value)
    router.get('/sent', (_req, res) => res.badRequest(value))
    router.get('/json', (_req, res) => res.json(value))
    for (const path of ['/returned', '/sent', '/json']) {
      expect(await send(kernel, path)).toMatchObject({ status: 500, text: '' })
      expect(log.splice(0).map((entry) => entry.message)).toEqual([expect.stringMatching(message)])
    }
  })

  test('an Error as a body is a failure where JSON would empty it; plain objects without members are not', async () => {
    const { kernel, router } = makeKernel()
    router.get('/error', (_req, res) => res.badRequest(new Error('x')))
    router.get('/members', (_req, res) => res.badRequest(Object.assign(new Error('x'), { field: 'name' })))
    router.get('/own', (_req, res) => res.badRequest(Object.assign(new Error('x'), { toJSON: () => ({}) })))
    router.get('/empty', () => ({}))
    router.get('/bare', () => Object.create(null) as object)
    router.get('/instance', () => new (class User {})())
    expect((await send(kernel, '/error')).status).toBe(500)
    expect(await send(kernel, '/members')).toMatchObject({ status: 400, text: '{"field":"name"}' })
    expect(await send(kernel, '/own')).toMatchObject({ status: 400, text: '{}' })
    for (const path of ['/empty', '/bare', '/instance']) {
      expect(await send(kernel, path)).toMatchObject({ status: 200, text: '{}' })
    }
  })

  test('answering twice keeps the first and warns with the route', async () => {
    const { kernel, router, log } = makeKernel()
    router.get('/twice/:id', (_req, res) => {
      res.ok('first')
      res.status(500).json('second')
      res.badRequest('third')
    })
    expect(await send(kernel, '/twice/1')).toMatchObject({ status: 200, text: '"first"' })
    const warnings = log.filter((entry) => entry.level === 'warn')
    expect(warnings).toHaveLength(2)
    expect(warnings[0]?.message).toMatch(/answered twice: GET \/twice\/:id/)
  })

  test('answering in an onSend hook, where no one has, is no late response', async () => {
    const { kernel, router, log } = makeKernel()
    kernel.register(definePlugin({ name: 'second', setup: (ctx) => ctx.onSend((_req, res) => void res.json(1)) })())
    router.get('/x', () => {})
    expect(await send(kernel, '/x')).toMatchObject({ status: 200, text: '' })
    expect(log.map(({ message }) => message)).toEqual([expect.stringMatching(/^answered twice: GET \/x keeps/)])
  })

  test('answering when the handler has returned is too late, and reported', async () => {
    const { kernel, router, log } = makeKernel()
    router.get('/late', (_req, res) => void setTimeout(() => res.ok({ a: 1 }), 5))
    expect(await send(kernel, '/late')).toMatchObject({ status: 200, text: '' })
    await expect
      .poll(() => log.map(({ message }) => message))
      .toEqual([
        expect.stringMatching(/^answered too late: GET \/late had already returned without a value.* Return a promise/),
      ])
  })
})

describe('a middleware', () => {
  test('that answers ends the chain', async () => {
    const { kernel, router } = makeKernel()
    let reached = false
    router.get('/x', [(_req, res) => res.unauthorized({ no: true })], () => {
      reached = true
    })
    expect(await send(kernel, '/x')).toMatchObject({ status: 401, text: '{"no":true}' })
    expect(reached).toBe(false)
  })

  test('in callback style may go on, or answer, later', async () => {
    const { kernel, router } = makeKernel()
    router.get('/next', [(_req, _res, next) => void setTimeout(next, 10)], () => 'went on')
    router.get('/answer', [(_req, res) => void setTimeout(() => res.ok('answered'), 10)], () => 'never')
    expect((await send(kernel, '/next')).json).toBe('went on')
    expect((await send(kernel, '/answer')).json).toBe('answered')
  })

  test('that need not return the promise of next(), sync or async', async () => {
    const { kernel, router } = makeKernel()
    const slow = async () => {
      await pause(10)
      return 'slow'
    }
    router.get(
      '/sync',
      [
        (_req, _res, next) => {
          next()
        },
      ],
      slow,
    )
    router.get(
      '/async',
      [
        async (_req, _res, next) => {
          next()
        },
      ],
      slow,
    )
    expect((await send(kernel, '/sync')).json).toBe('slow')
    expect((await send(kernel, '/async')).json).toBe('slow')
  })

  test('whose promise ends without a response and without next() is a 500 that names it', async () => {
    const { kernel, router, log } = makeKernel()
    router.get('/x', [async function forgetful() {}], () => 'never')
    expect(await send(kernel, '/x')).toMatchObject({ status: 500, text: '' })
    expect(log[0]?.message).toMatch(/chain stopped in forgetful/)
  })

  test('that stays silent is given up after the request time-out, and named in the log alone', async () => {
    const { kernel, router, log } = makeKernel({ requestTimeout: 40 })
    router.get('/x', [function silent() {}], () => 'never')
    const res = await send(kernel, '/x')
    expect(res).toMatchObject({ status: 503, json: { code: 'RequestTimeoutError' } })
    expect(res.text).toContain('REQUEST_TIMEOUT: the request was not answered within 40 ms')
    expect(res.text).not.toContain('silent')
    expect(log[0]?.message).toMatch(/silent neither answered nor called next\(\) within 40 ms/)
  })

  test('that stays silent is given up when the client leaves', async () => {
    const { kernel, router, log } = makeKernel({ requestTimeout: 0 })
    const abort = new AbortController()
    router.get('/x', [() => void setTimeout(() => abort.abort(), 5)], () => 'never')
    await send(kernel, '/x', 'GET', { signal: abort.signal })
    expect(log).toEqual([])
  })

  test.each([
    [
      'sync',
      (_req: unknown, _res: unknown, next: () => unknown) => {
        next()
        return next()
      },
    ],
    [
      'async',
      async (_req: unknown, _res: unknown, next: () => unknown) => {
        await next()
        await next()
      },
    ],
  ])('that calls next() twice is an error that names it (%s)', async (_kind, run) => {
    const { kernel, router, log } = makeKernel()
    let handled = 0
    const careless = { careless: run }.careless
    Object.defineProperty(careless, 'name', { value: 'careless' })
    router.get('/x', [careless as Middleware], () => void handled++)
    expect((await send(kernel, '/x')).status).toBe(500)
    expect(handled).toBe(1)
    expect(log[0]?.message).toMatch(/next\(\) was called twice in careless/)
  })

  test('may catch errors of later steps, and see their effects', async () => {
    const { kernel, router } = makeKernel()
    const rescue: Middleware = async (_req, res, next) => {
      try {
        await next()
      } catch (error) {
        res.status(400).json((error as Error).message)
      }
    }
    router.get('/sync', [rescue], () => {
      throw new Error('sync')
    })
    router.get('/async', [rescue], async () => {
      throw new Error('async')
    })
    expect(await send(kernel, '/sync')).toMatchObject({ status: 400, text: '"sync"' })
    expect(await send(kernel, '/async')).toMatchObject({ status: 400, text: '"async"' })
  })

  test('next(error) is a throw', async () => {
    const { kernel, router } = makeKernel()
    kernel.setErrorHandler((_req, res, _next, error) => res.status(400).json((error as Error).message))
    router.get('/now', [(_req, _res, next) => next(new Error('now'))], () => 'never')
    router.get('/later', [(_req, _res, next) => void setTimeout(() => next(new Error('later')), 5)], () => 'never')
    expect((await send(kernel, '/now')).json).toBe('now')
    expect((await send(kernel, '/later')).json).toBe('later')
  })
})

test('a request costs no promise when nothing on its way is asynchronous', async () => {
  const { kernel, router } = makeKernel()
  let promises = 0
  let counting = false
  const hook = createHook({
    init(_id, type) {
      if (counting && type === 'PROMISE') promises++
    },
  })
  const pass: Middleware = (_req, _res, next) => next()
  kernel.use((_req, _res, next) => {
    counting = true
    return next()
  })
  kernel.register(
    definePlugin({
      name: 'observer',
      setup(ctx) {
        ctx.use(pass)
        ctx.onSend((_req, res) => void res.setHeader('x-a', 'b'))
        ctx.onResponse(() => {
          counting = false
        })
      },
    })(),
  )
  router.get('/:id', [pass, pass], (req) => ({ id: req.params.id, q: req.query.a, ua: req.headers['user-agent'] }))
  await kernel.ready()
  hook.enable()
  const res = await send(kernel, '/7?a=1')
  hook.disable()
  expect(res.json).toEqual({ id: '7', q: '1' })
  expect(counting).toBe(false)
  expect(promises).toBe(0)
})
