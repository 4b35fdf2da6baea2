import { Readable } from 'node:stream'
import type { Request, Response as Res } from 'framework/kernel'
import { describe, expect, test } from 'vitest'
import { makeKernel, send } from '../../../support/kernel.ts'

/** Handles one request with a handler. */
async function answer(handler: (req: Request, res: Res) => unknown) {
  const { kernel, router, log } = makeKernel()
  router.get('/x', handler as never)
  const { status, headers, text } = await send(kernel, '/x')
  return { status, headers, text, log }
}

describe('a web Response', () => {
  test.each([
    ['with the status 0', () => Response.error(), 'its status is 0'],
    ['that is being read', () => locked(), 'its body was already read'],
  ])('%s is a failure that says so', async (_which, make, why) => {
    const { status, log } = await answer(make)
    expect(status).toBe(500)
    expect(log.map(({ message }) => message)).toEqual([expect.stringContaining(`cannot be sent: ${why}`)])
  })

  test('has its own status, unless a shorthand names one', async () => {
    expect((await answer((_req, res) => res.status(201).send(new Response('a', { status: 203 })))).status).toBe(203)
    expect((await answer((_req, res) => res.created(new Response('a', { status: 203 })))).status).toBe(201)
    expect((await answer((_req, res) => res.status(201).send(new Blob(['a'])))).status).toBe(201)
    expect((await answer((_req, res) => res.status(201).send(new FormData()))).status).toBe(201)
  })

  test('keeps a type that was set only where it has none', async () => {
    const typed = await answer((_req, res) =>
      res.type('csv').send(new Response('a', { headers: { 'content-type': 'x/y' } })),
    )
    expect(typed.headers['content-type']).toBe('x/y')
    const untyped = await answer((_req, res) => res.type('csv').send(new Response(new Uint8Array([97]))))
    expect(untyped.headers['content-type']).toMatch('text/csv')
  })

  test('leaves out headers of its own connection', async () => {
    const headers = { connection: 'close, X-Hop', 'x-hop': '1', 'x-kept': '1', te: 'trailers', upgrade: 'h2c' }
    const { headers: sent } = await answer(() => new Response('a', { headers }))
    expect(Object.keys(sent).sort()).toEqual(['content-type', 'x-kept'])
  })

  test('keeps a length that it declares, and is held to it', async () => {
    const of = (length: string) => answer(() => new Response('abc', { headers: { 'content-length': length } }))
    expect((await of('3')).headers['content-length']).toBe('3')
    await expect(of('2')).rejects.toThrow('did not have the 2 bytes')
  })

  test('that cannot be sent is let go of, and nothing of it is sent', async () => {
    let cancelled = 0
    const body = () =>
      new ReadableStream({
        cancel: () => {
          cancelled++
        },
      })
    const tooHigh = { status: 700, headers: new Headers(), body: body(), url: '', [Symbol.toStringTag]: 'Response' }
    expect((await answer(() => tooHigh)).status).toBe(500)
    const headers = { 'x-a': '1', 'x-bad': 'a\u0001' }
    expect((await answer(() => new Response(body(), { headers }))).headers).toEqual({ 'content-length': '0' })
    expect(cancelled).toBe(2)
  })

  test('that comes second is let go of, with a warning', async () => {
    let cancelled = false
    const body = new ReadableStream({
      cancel: () => {
        cancelled = true
      },
    })
    const { text, headers, log } = await answer((_req, res) => {
      res.text('first')
      res.send(new Response(body, { headers: { 'x-second': '1' } }))
    })
    expect([text, headers['x-second'], cancelled]).toEqual(['first', undefined, true])
    expect(log[0]!.message).toMatch('answered twice')
  })

  test('may be of another library', async () => {
    const foreign = {
      status: 203,
      headers: new Headers({ 'x-foreign': '1' }),
      body: Readable.from(['a', 'b']),
      url: '',
      [Symbol.toStringTag]: 'Response',
    }
    const { status, headers, text } = await answer(() => foreign)
    expect([status, headers['x-foreign'], text]).toEqual([203, '1', 'ab'])
  })

  test('may be the response of an error handler', async () => {
    const { kernel, router } = makeKernel()
    router.get('/x', () => {
      throw new Error('on purpose')
    })
    kernel.setErrorHandler(() => new Response('sorry', { status: 502 }))
    const { status, text } = await send(kernel, '/x')
    expect([status, text]).toEqual([502, 'sorry'])
    // No one chose its 200.
    kernel.setErrorHandler(() => Response.json({ sorry: true }))
    expect(await send(kernel, '/x')).toMatchObject({ status: 500, text: '{"sorry":true}' })
    kernel.setNotFoundHandler(() => new Response('nothing here'))
    expect(await send(kernel, '/nowhere')).toMatchObject({ status: 404, text: 'nothing here' })
  })
})

test.each([
  ['an object that calls itself a Response', { a: 1, [Symbol.toStringTag]: 'Response' }, '{"a":1}'],
  ['an object that calls itself a Blob', { size: 3, [Symbol.toStringTag]: 'Blob' }, '{"size":3}'],
])('%s is JSON', async (_which, value, text) => {
  expect((await answer(() => value)).text).toBe(text)
})

test.each([
  ['Float32Array', new Float32Array([1]), 4],
  ['SharedArrayBuffer', new SharedArrayBuffer(3), 3],
  ['part of a buffer', new Uint16Array(new ArrayBuffer(8), 2, 2), 4],
])('%s is bytes', async (_which, value, length) => {
  const { headers } = await answer(() => value)
  expect([headers['content-type'], headers['content-length']]).toEqual(['application/octet-stream', String(length)])
})

function locked(): Response {
  const response = new Response('a')
  response.body!.getReader()
  return response
}
