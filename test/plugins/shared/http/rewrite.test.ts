import type { RawRequest, Rewrite } from 'framework/kernel'
import { BadRequestError, definePlugin } from 'framework/kernel'
import { describe, expect, test } from 'vitest'
import { makeKernel, send } from '../../../support/kernel.ts'

function kernelWith(...rewriters: ((raw: RawRequest) => Rewrite | undefined)[]) {
  const made = makeKernel()
  rewriters.forEach((rewriter, i) => {
    made.kernel.register(definePlugin({ name: `rewriter${i}`, setup: (ctx) => ctx.rewrite(rewriter) })())
  })
  made.kernel.get('/a', (req) => ({ route: req.route, url: req.url, method: req.method, ip: req.ip, query: req.query }))
  made.kernel.put('/a', async (req) => {
    const bytes = await req.raw.bytes(100)
    return { method: req.method, text: new TextDecoder().decode(bytes), headers: req.headers }
  })
  return made
}

describe('the parts of a request that can be rewritten', () => {
  test('another target is routed, with its own query', async () => {
    const { kernel } = kernelWith((raw) => ({ target: raw.target.replace('/old', '/a') }))
    expect((await send(kernel, '/old?b=1')).json).toMatchObject({
      route: '/a',
      url: 'http://localhost/a?b=1',
      query: { b: '1' },
    })
  })

  test('another method, host, scheme and address; body and headers stay', async () => {
    const { kernel } = kernelWith(() => ({ method: 'PUT' }))
    const res = await send(kernel, '/a', 'POST', { body: 'text', headers: { 'x-a': '1' } })
    expect(res.json).toMatchObject({ method: 'PUT', text: 'text', headers: { 'x-a': '1', host: 'localhost' } })
    const { kernel: other } = kernelWith(() => ({ host: 'shop.test:8443', secure: true, ip: '192.0.2.1' }))
    expect((await send(other, '/a')).json).toMatchObject({ url: 'https://shop.test:8443/a', ip: '192.0.2.1' })
  })

  test('each rewriter sees the outcome of the one before; undefined changes nothing', async () => {
    const { kernel } = kernelWith(
      () => ({ target: '/b' }),
      () => undefined,
      (raw) => (raw.target === '/b' ? { target: '/a' } : undefined),
      (raw) => ({ ip: `${raw.ip}!` }),
    )
    expect((await send(kernel, '/x')).json).toMatchObject({ route: '/a', ip: '127.0.0.1!' })
  })

  test('405 and 404 refer to the rewritten request', async () => {
    const { kernel } = kernelWith(() => ({ method: 'DELETE' }))
    const res = await send(kernel, '/a')
    expect([res.status, res.headers.allow]).toEqual([405, 'GET, PUT'])
    expect(res.json).toMatchObject({ message: 'METHOD_NOT_ALLOWED: Cannot DELETE /a' })
  })

  test('the client going away still aborts', async () => {
    const { kernel } = kernelWith(() => ({ ip: '192.0.2.1' }))
    const gone = new AbortController()
    const aborted = new Promise((resolve) => {
      kernel.get('/wait', (req) => {
        req.signal.addEventListener('abort', () => resolve('aborted'))
        gone.abort()
      })
    })
    await send(kernel, '/wait', 'GET', { signal: gone.signal })
    expect(await aborted).toBe('aborted')
  })
})

describe('refusals', () => {
  test('a rewritten host that is not a host', async () => {
    for (const host of ['a b', 'a/b', 'evil:x@good', 'a, b', '', 'ä']) {
      const { kernel } = kernelWith(() => ({ host }))
      const res = await send(kernel, '/a')
      expect([host, res.status]).toEqual([host, 400])
      expect(res.json).toMatchObject({ code: 'BadRequestError' })
    }
  })

  test('a Host that is malformed, whatever a rewriter puts in its place', async () => {
    const { kernel } = kernelWith(() => ({ host: 'good.test' }))
    expect((await send(kernel, '/a', 'GET', { headers: { host: 'a, b' } })).status).toBe(400)
    expect((await send(kernel, '/a', 'GET', { headers: { host: 'a.test' } })).status).toBe(200)
  })

  test('a rewritten target that is malformed', async () => {
    for (const target of ['a', '', '/%zz', '/\0']) {
      const { kernel } = kernelWith(() => ({ target }))
      expect((await send(kernel, '/a')).status).toBe(400)
    }
  })
})

describe('a rewriter that fails', () => {
  test('with an error of the framework answers with it', async () => {
    const { kernel } = kernelWith(() => {
      throw BadRequestError('no')
    })
    expect(await send(kernel, '/a')).toMatchObject({ status: 400, json: { code: 'BadRequestError' } })
  })

  test('with anything else is a 500 that is logged, whatever later rewriters do', async () => {
    for (const thrown of [new Error('boom'), 'boom', Object.create(null), undefined]) {
      const { kernel, log } = kernelWith(
        () => {
          throw thrown
        },
        () => ({ target: '/a', method: 'GET' }),
        () => {
          throw BadRequestError('another')
        },
      )
      expect(await send(kernel, '/a')).toMatchObject({ status: 500, text: '' })
      expect(log.filter(({ level }) => level === 'error')).toHaveLength(1)
    }
  })

  test('an async one is an error, not one that changes nothing', async () => {
    const { kernel, log } = kernelWith((async () => Promise.reject(new Error('late'))) as never)
    expect((await send(kernel, '/a')).status).toBe(500)
    expect(String(log[0]?.message)).toContain('promise')
  })

  test('something else than a function is refused at boot', async () => {
    const { kernel } = kernelWith('no' as never)
    await expect(kernel.ready()).rejects.toThrow(/rewrite/)
  })
})
