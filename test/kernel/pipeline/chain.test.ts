import type { Middleware } from 'framework/kernel'
import { describe, expect, test } from 'vitest'
import { makeKernel, pause, send } from '../../support/kernel.ts'

/** A promise of its own making, as query builders have: its `then` calls back and returns nothing. */
function lazy<T>(run: () => T | Promise<T>): PromiseLike<T> {
  return {
    // biome-ignore lint/suspicious/noThenProperty: that is what is tested
    then(resolved?: ((value: T) => unknown) | null, rejected?: ((reason: unknown) => unknown) | null) {
      void pause(1).then(run).then(resolved, rejected)
      return undefined as never
    },
  }
}

describe('a thenable that is not a promise', () => {
  const fails = () => {
    throw Object.assign(new Error('on purpose'), { status: 418 })
  }

  test('is waited for where a handler returns it', async () => {
    const { kernel, router } = makeKernel()
    router.get('/value', () => lazy(() => ({ rows: 1 })))
    router.get('/failure', () => lazy(fails))
    expect(await send(kernel, '/value')).toMatchObject({ status: 200, json: { rows: 1 } })
    expect((await send(kernel, '/failure')).status).toBe(500)
  })

  test('is waited for where a middleware returns it', async () => {
    const { kernel, router } = makeKernel()
    const goesOn = ((_req, _res, next) => lazy(() => next())) as Middleware
    const stops = (() => lazy(() => undefined)) as unknown as Middleware
    router.get('/on', [goesOn], async () => 'handled')
    router.get('/stopped', [stops], () => 'never')
    router.get('/failure', [(() => lazy(fails)) as unknown as Middleware], () => 'never')
    expect(await send(kernel, '/on')).toMatchObject({ status: 200, json: 'handled' })
    expect((await send(kernel, '/stopped')).status).toBe(500)
    expect((await send(kernel, '/failure')).status).toBe(500)
  })
})

describe('a callback that comes late', () => {
  /** Fails the test when an error is thrown where it cannot be caught, which would end a process. */
  async function withoutCrash(run: () => Promise<void>) {
    const crashes: unknown[] = []
    const note = (error: unknown) => void crashes.push(error)
    const others = process.listeners('uncaughtException')
    process.removeAllListeners('uncaughtException')
    process.on('uncaughtException', note)
    try {
      await run()
      await pause(80)
    } finally {
      process.off('uncaughtException', note)
      for (const other of others) process.on('uncaughtException', other)
    }
    expect(crashes).toEqual([])
  }

  const nextLate: Middleware = ({ signal }, _res, next) => {
    signal.addEventListener('abort', () => setTimeout(next, 1))
  }

  test('next() after the client has left does nothing', async () => {
    const { kernel, router, log } = makeKernel()
    let handled = false
    const leaver = new AbortController()
    const leave: Middleware = (_req, _res, next) => {
      leaver.abort()
      return next()
    }
    router.get('/', [leave, nextLate], () => {
      handled = true
    })
    await withoutCrash(async () => {
      await send(kernel, '/', 'GET', { signal: leaver.signal })
    })
    expect(handled).toBe(false)
    expect(log.filter(({ level }) => level === 'error')).toEqual([])
  })

  test('next() after the request time-out does nothing', async () => {
    const { kernel, router } = makeKernel({ requestTimeout: 10 })
    router.get('/', [nextLate], () => 'late')
    await withoutCrash(async () => {
      expect((await send(kernel, '/')).status).toBe(503)
    })
  })

  test('a second next() is logged, naming the middleware, and the response stays', async () => {
    const { kernel, router, log } = makeKernel()
    router.get(
      '/',
      [
        function twice(_req, _res, next) {
          setTimeout(() => {
            void next()
            void next()
          })
        },
      ],
      () => 'once',
    )
    await withoutCrash(async () => {
      expect((await send(kernel, '/')).json).toBe('once')
    })
    expect(log.map(({ message }) => message)).toEqual(['next() was called twice in twice'])
  })

  test('a stream that is answered too late is let go', async () => {
    const { kernel, router } = makeKernel()
    let released = false
    const late = new ReadableStream({
      cancel() {
        released = true
      },
    })
    router.get('/', (_req, res) => {
      res.ok('first')
      res.stream(late)
    })
    expect((await send(kernel, '/')).json).toBe('first')
    await expect.poll(() => released).toBe(true)
  })
})
