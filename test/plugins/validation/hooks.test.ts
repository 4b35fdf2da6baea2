import { definePlugin, RouteCollection, Server } from 'framework'
import { describe, expect, test } from 'vitest'
import { type Entry, memoryLogger } from '../../support/kernel.ts'

/** A server whose `onError` hook records its calls, and the status of the response. */
function watched(logs: Entry[] = []) {
  const seen: { code: unknown; message: string; errors: unknown }[] = []
  const statuses: number[] = []
  const watch = definePlugin({
    name: 'watch',
    setup(ctx) {
      ctx.onError((error) => void seen.push(error as unknown as (typeof seen)[number]))
      ctx.onResponse((_req, res) => void statuses.push(res.statusCode))
    },
  })
  const server = new Server({ router: new RouteCollection(), logger: memoryLogger(logs), plugins: { watch: watch() } })
  const body = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] }
  server.post('/', { body }, () => 'fine')
  return { server, seen, statuses }
}

describe('onError hooks see a request that is not valid, once', () => {
  test('by default, and the response is as without them', async () => {
    const { server, seen, statuses } = watched()
    const response = await server.inject.post('/', { body: { n: 'x' } })
    response.assertStatus(422).assertBodyDeepEqual({
      code: 'ValidationError',
      message: 'validation failed',
      errors: [{ part: 'body', path: '/n', keyword: 'type', message: 'must be integer', params: { type: 'integer' } }],
    })
    expect(seen.map(({ code, message }) => [code, message])).toEqual([['ValidationError', 'validation failed']])
    expect(seen[0]!.errors).toHaveLength(1)
    expect(statuses).toEqual([422])
  })

  test('with a handler of the application', async () => {
    const { server, seen, statuses } = watched()
    server.setValidationErrorHandler(async (_req, res) => res.badRequest({ no: true }))
    ;(await server.inject.post('/', { body: {} })).assertStatus(400).assertBodyDeepEqual({ no: true })
    expect(seen).toMatchObject([{ code: 'ValidationError' }])
    expect(statuses).toEqual([400])
  })

  test('with a handler that throws it on', async () => {
    const { server, seen } = watched()
    server.setValidationErrorHandler((_req, _res, error) => {
      throw error
    })
    ;(await server.inject.post('/', { body: {} })).assertStatus(422)
    expect(seen).toMatchObject([{ code: 'ValidationError' }])
  })

  test('with a handler that fails: first the mistakes in the request, then the error of the handler', async () => {
    const { server, seen } = watched()
    const failure = new Error('no')
    server.setValidationErrorHandler({ map: () => Promise.reject(failure) })
    ;(await server.inject.post('/', { body: {} })).assertStatus(500)
    expect(seen).toMatchObject([{ code: 'ValidationError' }, { message: 'no' }])
  })

  test('and a valid one not at all', async () => {
    const { server, seen } = watched()
    ;(await server.inject.post('/', { body: { n: 1 } })).assertStatus(200)
    expect(seen).toEqual([])
  })
})

test('a hook that throws is logged and changes nothing', async () => {
  const logs: Entry[] = []
  const { server } = watched(logs)
  const broken = definePlugin({
    name: 'broken',
    setup(ctx) {
      ctx.onError(() => {
        throw new Error('no')
      })
    },
  })
  server.register(broken())
  ;(await server.inject.post('/', { body: {} })).assertStatus(422)
  expect(logs.map(({ message }) => message)).toEqual(['a hook of the plugin "broken" failed'])
})
