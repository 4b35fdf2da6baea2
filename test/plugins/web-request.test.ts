import { webRequest } from 'framework/kernel'
import { expect, test } from 'vitest'
import { makeKernel, send } from '../support/kernel.ts'

test('has the method, the address, the headers but those of the connection, and the body', async () => {
  const { kernel, router } = makeKernel()
  let seen: globalThis.Request | undefined
  router.any('/a/*', async (req) => {
    seen = webRequest(req)
    return seen.text()
  })
  const headers = { host: 'example.com', connection: 'close, X-Hop', 'x-hop': '1', te: 'trailers', 'x-kept': '1' }
  expect((await send(kernel, '/a/b?c=1', 'PUT', { headers, body: 'text' })).text).toBe('"text"')
  expect([seen?.method, seen?.url, Object.fromEntries(seen!.headers)]).toEqual([
    'PUT',
    'http://example.com/a/b?c=1',
    { 'content-length': '4', host: 'example.com', 'x-kept': '1' },
  ])
  for (const method of ['GET', 'DELETE', 'OPTIONS']) {
    await send(kernel, '/a/b', method, { headers })
    expect([seen?.method, seen?.body]).toEqual([method, null])
  }
})

test('reads nothing before it is read, and releases an unread rest', async () => {
  const { kernel, router } = makeKernel()
  let pulled = 0
  let left = false
  async function* endless() {
    try {
      for (;;) {
        pulled++
        yield new Uint8Array(10)
      }
    } finally {
      left = true
    }
  }
  router.post('/unread', (req) => new Response(webRequest(req).method))
  router.post('/begun', async (req) => {
    const reader = webRequest(req).body!.getReader()
    await reader.read()
    await reader.cancel()
    return 'enough'
  })
  await kernel.inject({ url: '/unread', method: 'POST', body: endless() })
  expect(pulled).toBe(0)
  await kernel.inject({ url: '/begun', method: 'POST', body: endless() })
  expect([pulled, left]).toEqual([1, true])
})

test.each([
  ['application/json', 'json'],
  ['application/x-www-form-urlencoded', 'urlencoded'],
  ['multipart/form-data; boundary=x', 'upload'],
])('a body of %s that was parsed names the option %s', async (type, option) => {
  const { kernel, router, log } = makeKernel()
  kernel.use(async (req, _res, next) => {
    req.body = await req.raw.bytes(100)
    return next()
  })
  router.post('/x', (req) => new Response(webRequest(req).method))
  const { status } = await send(kernel, '/x', 'POST', { headers: { 'content-type': type }, body: 'x' })
  expect([status, log[0]?.message]).toEqual([
    500,
    `POST /x failed with BodyParsedError: POST /x forwards a body that was already parsed. Give the route the option ${option}: false`,
  ])
})
