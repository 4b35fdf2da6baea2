import { createReadStream } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { type Context, definePlugin, type Kernel, type Middleware } from '../../../kernel/index.ts'
import { makeKernel, pause } from '../../support/kernel.ts'

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

/** A server whose responses note when they are sent in full. */
function makeApp() {
  const { kernel } = makeKernel({ drainWindow: 0, closeTimeout: 300 })
  closing.push(() => kernel.close())
  const events: string[] = []
  kernel.get('/:kind', async (req, res) => {
    const note = () => events.push(`settled ${req.params.kind}`)
    req.raw.onSettled(note)
    if (req.params.kind !== 'stream') return 'plain'
    async function* body() {
      for (let i = 0; i < 5; i++) {
        await pause(10)
        events.push(`piece ${i}`)
        yield new Uint8Array(100_000)
      }
    }
    return res.stream(body())
  })
  return { kernel, events }
}

test.each([
  'node',
  'inject',
  'fetch',
])('onSettled is called once, when all of the response is sent: %s', async (way) => {
  const { kernel, events } = makeApp()
  const { port } = await kernel.listen()
  const get = async (path: string) => {
    if (way === 'inject') return (await kernel.inject({ url: path })).body.byteLength
    const url = `http://127.0.0.1:${port}${path}`
    const response = way === 'fetch' ? await kernel.fetch(new Request(url)) : await fetch(url)
    return (await response.arrayBuffer()).byteLength
  }
  expect(await get('/plain')).toBe(7)
  await expect.poll(() => events.splice(0)).toEqual(['settled plain'])
  expect(await get('/stream')).toBe(500_000)
  await expect.poll(() => events).toEqual(['piece 0', 'piece 1', 'piece 2', 'piece 3', 'piece 4', 'settled stream'])
})

test('onSettled is called when the client goes away, and at once for later callers', async () => {
  const { kernel } = makeApp()
  const events: string[] = []
  const sockets: Socket[] = []
  kernel.get('/leave', async (req) => {
    const left = new Promise<void>((resolve) => req.raw.onSettled(resolve))
    for (const socket of sockets) socket.destroy()
    await left
    events.push('settled')
    req.raw.onSettled(() => events.push('late'))
  })
  const { port } = await kernel.listen()
  const socket = connect(port, '127.0.0.1', () => socket.write('GET /leave HTTP/1.1\r\nHost: x\r\n\r\n'))
  sockets.push(socket)
  await expect.poll(() => events).toEqual(['settled', 'late'])
})

test('leaving an unread body ends the connection at once, also when the client sends nothing more', async () => {
  const { kernel } = makeKernel({ drainWindow: 0, closeTimeout: 300 })
  closing.push(() => kernel.close())
  kernel.post('/', async (req) => {
    const body = req.raw.stream()[Symbol.asyncIterator]()
    await body.next()
    void body.next()
    await body.return?.()
    return 'enough'
  })
  const { port } = await kernel.listen()
  const text = await new Promise<string>((resolve) => {
    let received = ''
    const socket = connect(port, '127.0.0.1', () => {
      socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\nbeginning')
    })
    socket.on('data', (data) => {
      received += data
    })
    socket.on('close', () => resolve(received))
  })
  expect(text).toContain('"enough"')
  expect(text).toMatch(/connection: close/i)
})

test('a response whose source fails while nothing reads it is over: fetch', async () => {
  const { kernel, log } = makeKernel({ drainWindow: 0, closeTimeout: 300 })
  closing.push(() => kernel.close())
  const events: string[] = []
  let source!: ReadableStreamDefaultController<Uint8Array>
  kernel.get('/', (req, res) => {
    req.raw.onSettled(() => events.push('settled'))
    const start = (controller: typeof source) => {
      source = controller
      source.enqueue(new Uint8Array(3))
    }
    return res.stream(new ReadableStream<Uint8Array>({ start }))
  })
  await kernel.ready()
  const response = await kernel.fetch(new Request('http://a/'))
  const reader = response.body!.getReader()
  expect((await reader.read()).value).toHaveLength(3)
  expect(events).toEqual([])
  source.error(new Error('given up'))
  await expect.poll(() => events).toEqual(['settled'])
  expect(JSON.stringify(log.map(({ message }) => message))).toContain('a streamed response broke off')
  await expect(reader.read()).rejects.toThrow('given up')
  expect(events).toEqual(['settled'])
})

test.each([
  ['a socket', (kernel: Kernel, path: string) => fetch(kernel.url + path)],
  ['fetch', (kernel: Kernel, path: string) => kernel.fetch(new Request(`http://a${path}`))],
])('the warning of a response that broke off says which request it was: %s', async (_what, ask) => {
  const { kernel, log } = makeKernel({ drainWindow: 0, closeTimeout: 300 })
  closing.push(() => kernel.close())
  let id: string | undefined
  kernel.get('/reports/:name', (req, res) => {
    id = req.id
    return res.stream(failing())
  })
  await kernel.listen()
  const response = await ask(kernel, '/reports/sold')
  await expect(response.text()).rejects.toThrow()
  const fields = { reqId: id, method: 'GET', path: '/reports/sold', route: '/reports/:name', err: new Error('no disk') }
  const entry = { level: 'warn', fields, message: 'a streamed response broke off' }
  await expect.poll(() => log).toContainEqual(entry)
})

describe('a stream of Node.js that fails before it is read breaks off, and the process lives', () => {
  const missing = () => createReadStream('/missing')
  const slowly: Middleware = async (_req, _res, next) => {
    await next()
    await pause(20)
  }
  const hook = (onSend: Parameters<Context['onSend']>[0]) =>
    definePlugin({ name: 'waits', setup: (ctx) => void ctx.onSend(onSend) })()

  const replace = hook(async (_req, res) => {
    res.replaceBody(missing())
    await pause(20)
  })

  test.each<[string, (kernel: Kernel) => unknown]>([
    ['a middleware waits', (kernel) => kernel.get('/', [slowly], missing)],
    ['a hook waits', (kernel) => kernel.register(hook(() => pause(20))).get('/', missing)],
    ['a hook that has replaced the body waits', (kernel) => kernel.register(replace).get('/', () => 'there')],
  ])('%s', async (_what, define) => {
    const { kernel, log } = makeKernel({ drainWindow: 0, closeTimeout: 300 })
    closing.push(() => kernel.close())
    define(kernel)
    await kernel.listen()
    await expect(fetch(kernel.url!).then((response) => response.text())).rejects.toThrow()
    await expect
      .poll(() => log)
      .toMatchObject([{ message: 'a streamed response broke off', fields: { err: { code: 'ENOENT' } } }])
  })
})

async function* failing() {
  yield 'a line\n'
  throw new Error('no disk')
}

test.each([
  'inject',
  'fetch',
])('onSettled with `always` is called when a client leaves a handler that never ends: %s', async (way) => {
  const { kernel } = makeKernel({ drainWindow: 0, closeTimeout: 300 })
  closing.push(() => kernel.close())
  const gone = new AbortController()
  let count = 0
  kernel.get('/', (req) => {
    req.raw.onSettled(() => count++, true)
    setImmediate(() => gone.abort())
    return new Promise(() => {})
  })
  await kernel.ready()
  const { signal } = gone
  const sent =
    way === 'inject' ? kernel.inject({ url: '/', signal }) : kernel.fetch(new Request('http://localhost/', { signal }))
  void Promise.resolve(sent).catch(() => {})
  await expect.poll(() => count).toBe(1)
})
