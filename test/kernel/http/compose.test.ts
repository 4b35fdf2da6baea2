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

describe('a thenable that is no promise', () => {
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
