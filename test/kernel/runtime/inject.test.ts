import { createHook } from 'node:async_hooks'
import { Readable } from 'node:stream'
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

  test('rejects when a streamed response breaks', async () => {
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

  /** An endless response, with what became of its source. */
  function endless(kind: 'generator' | 'web' | 'node') {
    const seen = { pieces: 0, ended: false, aborted: false }
    const end = () => {
      seen.ended = true
    }
    async function* pieces() {
      try {
        for (;;) {
          seen.pieces++
          yield Buffer.from('x')
          await new Promise(setImmediate)
        }
      } finally {
        end()
      }
    }
    const pull = async (stream: ReadableStreamDefaultController<Uint8Array>) => {
      await new Promise(setImmediate)
      seen.pieces++
      stream.enqueue(Buffer.from('x'))
    }
    const body = {
      generator: pieces,
      web: () => new ReadableStream<Uint8Array>({ pull, cancel: end }),
      node: () => Readable.from(pieces()),
    }[kind]
    const { kernel, router } = makeKernel()
    router.get('/', (req, res) => {
      req.signal.addEventListener('abort', () => {
        seen.aborted = true
      })
      return res.stream(body())
    })
    return { kernel, seen }
  }
  const turns = async (count: number) => {
    for (let i = 0; i < count; i++) await new Promise(setImmediate)
  }

  test.each([
    'generator',
    'web',
    'node',
  ] as const)('ends a streamed response when its client leaves: %s', async (kind) => {
    const { kernel, seen } = endless(kind)
    const leaver = new AbortController()
    const answer = kernel.inject({ url: '/', signal: leaver.signal })
    const reason = new Error('enough')
    const rejected = expect(answer).rejects.toBe(reason)
    await expect.poll(() => seen.pieces).toBeGreaterThan(3)
    leaver.abort(reason)
    await rejected
    await expect.poll(() => seen.ended).toBe(true)
    const { pieces } = seen
    await turns(50)
    expect(seen).toMatchObject({ ended: true, aborted: true })
    // A web stream may have been making one.
    expect(seen.pieces).toBeLessThanOrEqual(pieces + 1)
    await kernel.close()
  })

  test.each([
    'generator',
    'web',
    'node',
  ] as const)('ends a streamed response when the server closes: %s', async (kind) => {
    const { kernel, seen } = endless(kind)
    const rejected = expect(kernel.inject({ url: '/' })).rejects.toMatchObject({ code: 'ServerClosedError' })
    await expect.poll(() => seen.pieces).toBeGreaterThan(3)
    await kernel.close()
    await rejected
    await expect.poll(() => seen.ended).toBe(true)
    const { pieces } = seen
    await turns(50)
    expect(seen.pieces).toBeLessThanOrEqual(pieces + 1)
  })

  test('a response that is complete is given to a client that left', async () => {
    const { kernel, router } = makeKernel()
    router.get('/', (req) => req.signal.aborted)
    expect(Buffer.from((await kernel.inject({ url: '/', signal: aborted })).body).toString()).toBe('true')
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
