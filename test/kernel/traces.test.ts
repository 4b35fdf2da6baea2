import { AsyncLocalStorage } from 'node:async_hooks'
import { channel, subscribe, tracingChannel, unsubscribe } from 'node:diagnostics_channel'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { definePlugin, RouteCollection, Server } from '../../index.ts'
import { type RequestTrace, Trace } from '../../kernel/index.ts'
import { wrapWork } from '../../plugins/shared/work/wrap-work.ts'
import { gate } from '../support/queues.ts'

const clean: (() => void)[] = []
afterEach(() => {
  for (const one of clean.splice(0)) one()
})

/** Everything that a tracing channel reports, as lines. */
function follow(kind: string, shown: (event: never) => string) {
  const lines: string[] = []
  const on = (what: string) => (event: unknown) => void lines.push(`${what} ${shown(event as never)}`)
  const handlers = {
    start: on('start'),
    end: on('end'),
    asyncStart: () => {},
    asyncEnd: on('done'),
    error: on('error'),
  }
  const followed = tracingChannel(`framework:${kind}`)
  followed.subscribe(handlers as never)
  clean.push(() => followed.unsubscribe(handlers as never))
  return lines
}

function watch(kind: string, shown: (event: never) => string) {
  const lines: string[] = []
  const listener = (event: unknown) => void lines.push(shown(event as never))
  subscribe(`framework:${kind}`, listener)
  clean.push(() => unsubscribe(`framework:${kind}`, listener))
  return lines
}

function serve(add: (routes: RouteCollection) => void) {
  const routes = new RouteCollection()
  add(routes)
  return new Server({ router: routes, gracefulShutdown: false })
}

const shownRequest = ({ request, response, error }: RequestTrace & { error?: Error }) =>
  [request.method, request.path, request.route, response.statusCode, error?.message]
    .filter((one) => one !== undefined)
    .join(' ')

describe('a request', () => {
  test('is followed until its response has left, with its bound stores', async () => {
    const store = new AsyncLocalStorage<string>()
    clean.push(() => store.disable())
    const { start } = tracingChannel('framework:request')
    start.bindStore(store, (event) => (event as RequestTrace).request.path)
    clean.push(() => start.unbindStore(store))
    const lines = follow('request', shownRequest)
    const seen: (string | undefined)[] = []
    const server = serve((routes) => {
      routes.get('/things/:id', async () => {
        await new Promise((resolve) => setTimeout(resolve, 1))
        seen.push(store.getStore())
        return 'x'
      })
      routes.get('/sync', () => {
        seen.push(store.getStore())
        return 'y'
      })
    })
    await server.inject.get('/things/7')
    await server.inject.get('/sync')
    await server.inject.get('/nowhere')
    expect(seen).toEqual(['/things/7', '/sync'])
    await expect
      .poll(() => lines.filter((line) => line.startsWith('done')))
      .toEqual([
        expect.stringContaining('done GET /things/7'),
        expect.stringContaining('done GET /sync'),
        expect.stringContaining('done GET /nowhere'),
      ])
    expect(lines.filter((line) => line.startsWith('start'))).toHaveLength(3)
    await server.close()
  })

  test('costs nothing and says nothing where no one follows', async () => {
    const lines = follow('request', shownRequest)
    for (const one of clean.splice(0)) one()
    const server = serve((routes) => routes.get('/', () => 'x'))
    await server.inject.get('/')
    expect(lines).toEqual([])
    await server.close()
  })
})

test('steps and the handler are reported where someone listens at the boot', async () => {
  const steps = watch('step', ({ name }: { name: string }) => name)
  const handlers = follow('handler', shownRequest)
  const server = serve((routes) => {
    routes.get(
      '/',
      {
        middlewares: [
          function first(_req, _res, next) {
            return next()
          },
        ],
      },
      async function hello() {
        throw new Error('no')
      },
    )
  })
  await server.inject.get('/')
  expect(steps).toEqual(['json', 'first', 'handler'])
  expect(handlers.map((line) => line.split(' ')[0])).toEqual(['start', 'end', 'error', 'done'])
  expect(server.printRoutes()).toContain('first > hello')
  await server.close()
})

test('a failure is reported with its request, whatever it is answered with', async () => {
  const errors = watch(
    'error',
    ({ error, request }: { error: Error; request: { path: string } }) => `${request.path} ${error.message}`,
  )
  const server = serve((routes) =>
    routes.get('/', () => {
      throw new Error('no database')
    }),
  )
  await server.inject.get('/')
  expect(errors).toEqual(['/ no database'])
  await server.close()
})

test('each phase of each plugin is followed', async () => {
  const lines = follow('plugin', ({ plugin, phase }: { plugin: string; phase: string }) => `${plugin} ${phase}`)
  const shop = definePlugin({
    name: 'shop',
    async setup(ctx) {
      ctx.onReady(() => {})
      ctx.onClose(() => {})
    },
  })
  const server = new Server({ router: new RouteCollection(), plugins: [shop()], gracefulShutdown: false })
  await server.ready()
  await server.close()
  const own = lines.filter((line) => line.includes('shop'))
  expect(own).toEqual(
    ['setup', 'ready', 'close'].flatMap((phase) => [`start shop ${phase}`, `end shop ${phase}`, `done shop ${phase}`]),
  )
})

describe('Trace', () => {
  const makeTrace = () => new Trace<{ name: string }>(`test-${Math.random()}`)

  test('does the work alone where no one follows, and makes no event', () => {
    const trace = makeTrace()
    expect(
      trace.run(
        () => {
          throw new Error('made')
        },
        () => 7,
      ),
    ).toBe(7)
  })

  test('leaves a promise as it is, and begins a lazy one once', async () => {
    const kind = `test-${Math.random()}`
    const lines = follow(kind, ({ name }: { name: string }) => name)
    const trace = new Trace<{ name: string }>(kind)
    const promise = Promise.resolve(1)
    expect(
      trace.run(
        () => ({ name: 'a' }),
        () => promise,
      ),
    ).toBe(promise)
    let begun = 0
    // As query builders do.
    const then = (resolve: (value: number) => void) => {
      begun++
      resolve(2)
    }
    const lazy = { then } as unknown as PromiseLike<number>
    expect(
      await trace.run(
        () => ({ name: 'b' }),
        () => lazy,
      ),
    ).toBe(2)
    expect(begun).toBe(1)
    expect(lines.filter((line) => line.startsWith('done')).sort()).toEqual(['done a', 'done b'])
  })

  test('reports failures, thrown and rejected', async () => {
    const kind = `test-${Math.random()}`
    const lines = follow(kind, ({ error }: { error?: Error }) => error?.message ?? '')
    const trace = new Trace<{ name: string }>(kind)
    expect(() =>
      trace.run(
        () => ({ name: 'a' }),
        () => {
          throw new Error('thrown')
        },
      ),
    ).toThrow('thrown')
    await expect(
      trace.run(
        () => ({ name: 'b' }),
        () => Promise.reject(new Error('rejected')),
      ),
    ).rejects.toThrow('rejected')
    expect(lines.filter((line) => line.startsWith('error'))).toEqual(['error thrown', 'error rejected'])
    expect(channel(`framework:${kind}`).hasSubscribers).toBe(false)
  })
})

test('a request through fetch whose client has gone ends once, also where its handler never does', async () => {
  let ends = 0
  const count = () => void ends++
  const { asyncEnd } = tracingChannel('framework:request')
  asyncEnd.subscribe(count)
  const hang = gate()
  try {
    const server = new Server()
    const client = new AbortController()
    server.get('/hang', () => {
      setImmediate(() => client.abort())
      return hang.opened
    })
    await server.ready()
    void Promise.resolve(server.fetch(new Request('http://localhost/hang', { signal: client.signal }))).catch(() => {})
    await expect.poll(() => ends).toBe(1)
  } finally {
    // The end of the file would wait for it.
    hang.open()
    asyncEnd.unsubscribe(count)
  }
})

describe('a wrapper of work', () => {
  interface Event {
    name: string
  }
  const trace = new Trace<Event>('wrapped')
  const wrap = (wrapper: (event: Event, work: () => void) => void) => clean.push(wrapWork<Event>('wrapped', wrapper))
  const run = <Result>(work: (event?: Event) => Result) => trace.run(() => ({ name: 'one' }), work)

  test('enters a context around the work, within the earlier ones, after start', async () => {
    const store = new AsyncLocalStorage<string>()
    clean.push(() => store.disable())
    const lines = follow('wrapped', ({ name }: Event) => name)
    wrap(({ name }, work) => {
      lines.push('enter')
      store.run(name, work)
    })
    wrap((_event, work) => store.run(`${store.getStore()} and two`, work))
    const result = run(async (event) => {
      await null
      return [store.getStore(), event?.name]
    })
    await expect(result).resolves.toEqual(['one and two', 'one'])
    expect(lines).toEqual(['start one', 'enter', 'end one', 'done one'])
  })

  test('ends, and then nothing is made', () => {
    const end = wrapWork<Event>('wrapped', (_event, work) => work())
    expect(trace.isOn).toBe(true)
    end()
    expect(trace.isOn).toBe(false)
    expect(run((event) => event)).toBeUndefined()
  })

  test('that fails, or calls the work twice or never, leaves the work as it is', async () => {
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    clean.push(() => warned.mockRestore())
    let count = 0
    const work = () => ++count
    wrap(() => {
      throw new Error('before')
    })
    expect(run(work)).toBe(1)
    wrap((_event, inner) => {
      inner()
      throw new Error('after')
    })
    wrap((_event, inner) => {
      inner()
      inner()
    })
    wrap(() => {})
    expect(run(work)).toBe(2)
    const failing = () => run(() => Promise.reject(new Error('of the work')))
    await expect(failing()).rejects.toThrow('of the work')
    expect(() =>
      run(() => {
        throw new Error('at once')
      }),
    ).toThrow('at once')
    expect(warned.mock.calls.map(([error]) => (error as Error).message).slice(0, 3)).toEqual([
      'before',
      'before',
      'after',
    ])
  })

  test('holds for other copies of the module, too', async () => {
    const copy: typeof import('../../kernel/support/trace.ts') = await import(`${'../../kernel/support/trace.ts'}?copy`)
    expect(copy.Trace).not.toBe(Trace)
    expect(new copy.Trace('wrapped').isOn).toBe(false)
    clean.push(wrapWork<Event>('wrapped', (_event, work) => work()))
    expect(new copy.Trace('wrapped').isOn).toBe(true)
  })

  test('of a request is around its chain; the event has its headers, and takes some for the response', async () => {
    const store = new AsyncLocalStorage<string | undefined>()
    clean.push(() => store.disable())
    clean.push(
      wrapWork<RequestTrace>('request', ({ request, response }, work) => {
        response.setHeader('traceresponse', 'back')
        store.run(request.headers.traceparent as string, work)
      }),
    )
    const server = serve((routes) => void routes.get('/', () => ({ got: store.getStore() })))
    const answer = await server.inject.get('/', { headers: { traceparent: 'given' } })
    answer.assertHeader('traceresponse', 'back').assertBodySubset({ got: 'given' })
    await server.close()
  })
})
