import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { makeKernel, send } from '../../support/kernel.ts'

test('GS-11 100 000 requests in process open no socket and keep no memory', async () => {
  const { kernel, router } = makeKernel()
  router.get('/users/:id', (req) => ({ id: req.params.id, q: req.query.q, agent: req.headers['user-agent'] }))
  await kernel.ready()
  const run = async (count: number) => {
    for (let i = 0; i < count; i++) await kernel.inject({ url: `/users/${i}?q=${i}`, headers: { 'user-agent': 'x' } })
  }
  await run(20_000)
  // Other files share the process, and their sockets may end later.
  const sockets = () => process.getActiveResourcesInfo().filter((name) => name.startsWith('TCP')).length
  const others = sockets()
  setFlagsFromString('--expose-gc')
  const gc = runInNewContext('gc') as () => void
  gc()
  const before = process.memoryUsage().heapUsed
  await run(100_000)
  gc()
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(16 * 1024 * 1024)
  expect(sockets()).toBeLessThanOrEqual(others)
})

test.each<[string, unknown[], RegExp]>([
  [
    'a method and a path',
    ['GET', '/x'],
    /one object: inject\(\{ url: '\/users' \}\); a Server has inject\.get\('\/users'\)/,
  ],
  ['a path', ['/x'], /one object/],
  ['nothing', [], /one object/],
  ['null', [null], /one object/],
  ['a second argument', [{ url: '/x' }, {}], /one object/],
  ['no url', [{ method: 'GET' }], /takes a url/],
  ['a URL', [{ url: new URL('http://a.b/x') }], /takes a url/],
  ['a web request', [new Request('http://a.b/x')], /a web Request is for fetch\(request\)/],
  ['another member', [{ url: '/x', payload: {} }], /and "payload" is not one of them/],
  ['a misspelt member', [{ url: '/x', header: {} }], /"header" is not one of them\. Did you mean "headers"\?/],
  ['plain data', [{ url: '/x', body: { a: 1 } }], /a body of text, bytes .* JSON\.stringify/],
])('an inject of %s is refused with what it takes', async (_what, args, message) => {
  const { kernel } = makeKernel()
  await expect((kernel.inject as (...args: unknown[]) => Promise<unknown>)(...args)).rejects.toThrow(message)
  await expect((kernel.inject as (...args: unknown[]) => Promise<unknown>)(...args)).rejects.toThrow(/^inject/)
})

test('an inject has the same response as a socket', async () => {
  const { kernel, router } = makeKernel()
  router.get('/users/:id', (req) => ({ params: req.params, query: req.query, path: req.path }))
  router.post('/text', (_req, res) => res.status(201).header('x-a', 'b').text('hé'))
  router.get('/none', (_req, res) => res.noContent())
  router.get('/boom', () => {
    throw new Error('x')
  })
  const { port } = await kernel.listen()
  const cases: [string, string][] = []
  for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'OPTIONS']) {
    for (const path of [
      '/users/5',
      '/users/%C3%A9?a=1&a=2',
      '/users/',
      '/text',
      '/none',
      '/boom',
      '/nope',
      '/users/%zz',
      '/a/../users/7',
      '//users/5',
    ]) {
      cases.push([method, path])
    }
  }
  for (const [method, path] of cases) {
    const injected = await send(kernel, path, method)
    const socket = await fetch(`http://127.0.0.1:${port}${path}`, { method })
    const headers = Object.fromEntries(socket.headers)
    for (const name of ['date', 'connection', 'keep-alive', 'transfer-encoding']) delete headers[name]
    expect({ method, path, status: socket.status, text: await socket.text(), headers }).toEqual({
      method,
      path,
      status: injected.status,
      text: injected.text,
      headers: { ...injected.headers },
    })
  }
  await kernel.close()
})

test('fetch, inject, listen, close and disconnect may be taken off their server', async () => {
  const { kernel, router } = makeKernel()
  router.get('/x', () => 'x')
  const { fetch, inject, listen, close, disconnect } = kernel
  expect(await (await fetch(new Request('http://localhost/x'))).json()).toBe('x')
  expect((await inject({ url: '/x' })).status).toBe(200)
  expect((await listen()).port).toBeGreaterThan(0)
  expect(kernel.isListening).toBe(true)
  await close()
  await disconnect()
  expect(kernel.isListening).toBe(false)
})
