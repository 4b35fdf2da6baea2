import { createHook } from 'node:async_hooks'
import { definePlugin } from 'framework/kernel'
import { describe, expect, test } from 'vitest'
import type { InjectRequest } from '../../../kernel/runtime/inject.ts'
import { makeKernel, send } from '../../support/kernel.ts'

describe('inject', () => {
  test('costs one promise when the server has booted and nothing is asynchronous', async () => {
    const { kernel, router } = makeKernel()
    router.get('/', () => ({ a: 1 }))
    await kernel.inject({ url: '/' })
    let promises = 0
    const hook = createHook({
      init(_id, type) {
        if (type === 'PROMISE') promises++
      },
    }).enable()
    const answer = kernel.inject({ url: '/' })
    hook.disable()
    expect(promises).toBe(1)
    expect((await answer).status).toBe(200)
  })

  test('boots once for requests that come together', async () => {
    const { kernel, router } = makeKernel()
    let boots = 0
    kernel.register(definePlugin({ name: 'counter', setup: () => void boots++ })())
    router.get('/', () => 'ok')
    const answers = await Promise.all([1, 2, 3].map(() => send(kernel, '/')))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(boots).toBe(1)
  })

  test('rejects, and does not throw, once the server is closed', async () => {
    const { kernel } = makeKernel()
    await kernel.inject({ url: '/' })
    await kernel.close()
    await expect(kernel.inject({ url: '/' })).rejects.toMatchObject({ code: 'ServerClosedError' })
  })

  test('rejects when a streamed answer breaks', async () => {
    const { kernel, router } = makeKernel()
    router.get('/', (_req, res) =>
      res.stream(
        (async function* () {
          yield 'half'
          throw new Error('broken on purpose')
        })(),
      ),
    )
    await expect(kernel.inject({ url: '/' })).rejects.toThrow('broken on purpose')
  })

  async function* pieces() {
    yield Buffer.from('abc')
    yield Buffer.from('def')
  }
  const aborted = AbortSignal.abort()
  test.each<[string, Partial<InjectRequest>, number, unknown]>([
    ['text', { body: 'grüße' }, 7, 'grüße'],
    ['text that is too long', { body: 'grüße' }, 6, 413],
    ['bytes', { body: new Uint8Array([97, 98]) }, 2, 'ab'],
    ['bytes that are too many', { body: new Uint8Array([97, 98]) }, 1, 413],
    ['pieces', { body: pieces() }, 6, 'abcdef'],
    ['pieces that are too many', { body: pieces() }, 5, 413],
    ['no body', {}, 5, ''],
    ['a length that is too large', { body: 'a', headers: { 'content-length': '9' } }, 5, 413],
    ['a length that is too small', { body: 'abcdef', headers: { 'content-length': '1' } }, 5, 413],
    ['text of a client that left', { body: 'a', signal: aborted }, 5, 400],
    ['pieces of a client that left', { body: pieces(), signal: aborted }, 9, 400],
  ])('reads %s', async (_name, request, limit, expected) => {
    const { kernel, router } = makeKernel()
    let read: unknown
    router.post('/', (req) =>
      req.raw.bytes(limit).then(
        (bytes) => {
          read = Buffer.from(bytes).toString()
        },
        (error: { status: number }) => {
          read = error.status
        },
      ),
    )
    await kernel.inject({ url: '/', method: 'POST', ...request })
    expect(read).toBe(expected)
  })

  test('takes the host from an absolute URL, else localhost, else the header', async () => {
    const { kernel, router } = makeKernel()
    router.get('/', (req) => req.headers.host)
    for (const [url, headers, host] of [
      ['/', undefined, 'localhost'],
      ['http://a.example:81/', undefined, 'a.example:81'],
      ['/', { Host: 'b.example' }, 'b.example'],
    ] as const) {
      expect((await send(kernel, url, 'GET', headers && { headers })).json).toBe(host)
    }
  })
})
