import { channel } from 'node:diagnostics_channel'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { lookAt, makeServer, type Shown, servers } from './support.ts'

let base = ''
const away = createServer((req, res) => {
  if (req.url === '/broken') return req.socket.destroy()
  if (req.url === '/endless') return res.writeHead(200).write('some')
  if (req.url === '/half') return res.writeHead(200, { 'content-length': '9' }).write('some', () => res.destroy())
  res.statusCode = Number(req.url!.match(/\d{3}/)?.[0] ?? 200)
  return res.end('hello')
})
beforeAll(async () => {
  await new Promise<void>((resolve) => away.listen(0, '127.0.0.1', resolve))
  base = `127.0.0.1:${(away.address() as AddressInfo).port}`
})
afterAll(() => {
  away.closeAllConnections()
  away.close()
})
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close().catch(() => {})
})

const asked = {
  fetch: async (path: string, signal?: AbortSignal) => (await fetch(`http://${base}${path}`, { signal })).text(),
  'node:http': (path: string, signal?: AbortSignal) =>
    new Promise<unknown>((resolve, reject) => {
      const sent = request(`http://${base}${path}`, { signal, agent: false }, (res) =>
        res
          .on('error', reject)
          .on('close', () => resolve('read'))
          .resume(),
      )
      sent.on('error', reject).end()
    }),
}

describe.each(Object.entries(asked))('requests of %s', (_name, ask) => {
  async function recorded(path: string, signal?: AbortSignal): Promise<Shown> {
    const { server } = makeServer()
    server.get('/run', async () => {
      await ask(path, signal).catch(() => {})
      return 'done'
    })
    const look = await lookAt(server)
    await server.inject.get('/run')
    await vi.waitUntil(async () => (await look.list('outgoing'))[0]?.outcome !== 'running', 20_000)
    const [run] = await look.list('request')
    const one = await look.newest('outgoing')
    expect(one).toMatchObject({ parent: run!.id, trace: run!.trace })
    expect((await look.details(run!.id)).related.map(({ kind }) => kind)).toContain('outgoing')
    return one
  }

  test('belong to the request that sent them, without secrets', async () => {
    expect(await recorded('/books?token=hidden&page=2')).toMatchObject({
      title: `GET ${base}/books?token=[redacted]&page=2`,
      note: '200',
      outcome: 'ok',
      data: { method: 'GET', host: base, path: '/books?token=[redacted]&page=2', status: 200, size: 5 },
    })
    expect(JSON.stringify(await recorded('//x/y?password=hidden'))).toContain(`GET ${base}//x/y?password=[redacted]`)
  })

  test('have failed with an error of the other server, without a response, cut off and aborted', async () => {
    expect(await recorded('/500')).toMatchObject({ note: '500', outcome: 'failed' })
    expect(await recorded('/404')).toMatchObject({ note: '404', outcome: 'ok' })
    expect(await recorded('/broken')).toMatchObject({ note: 'no response', outcome: 'failed' })
    expect(await recorded('/half')).toMatchObject({ note: '200, cut off', outcome: 'failed' })
    const aborting = new AbortController()
    const sent = recorded('/endless', aborting.signal)
    await new Promise((resolve) => away.once('request', () => setImmediate(resolve)))
    aborting.abort()
    expect((await sent).note).toMatch(/aborted$|cut off$/)
  })
})

test('those to its own page are not recorded, and after the close no one follows them', async () => {
  const { server } = makeServer()
  await server.listen()
  const look = await lookAt(server)
  await fetch(`http://127.0.0.1:${server.port}/_inspector`)
  expect(await look.list('outgoing')).toEqual([])
  const names = ['undici:request:create', 'undici:request:error', 'http.client.request.start']
  expect(names.map((name) => channel(name).hasSubscribers)).toEqual([true, true, true])
  await server.close()
  expect(names.map((name) => channel(name).hasSubscribers)).toEqual([false, false, false])
})

test('a request for another protocol is not recorded, because nothing says how it ends', async () => {
  const { server } = makeServer()
  const look = await lookAt(server)
  const headers = { connection: 'upgrade', upgrade: 'websocket' }
  await new Promise((resolve) =>
    request(`http://${base}/`, { headers, agent: false }, (res) => res.on('close', resolve).resume()).end(),
  )
  expect(await look.list('outgoing')).toEqual([])
})

test('telemetry does not take the inspector for an instrumentation', async () => {
  const { isFetchFollowed } = await import('../../../plugins/shared/development/outgoing.ts')
  const { server } = makeServer()
  await server.ready()
  expect(channel('undici:request:create').hasSubscribers).toBe(true)
  expect(isFetchFollowed()).toBe(false)
  const other = () => {}
  channel('undici:request:create').subscribe(other)
  expect(isFetchFollowed()).toBe(true)
  channel('undici:request:create').unsubscribe(other)
})
