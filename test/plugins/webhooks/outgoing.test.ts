import { once } from 'node:events'
import { createServer, type Server as HttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  bullmqQueue,
  memoryQueue,
  type OutgoingWebhooksOptions,
  queue as portable,
  RouteCollection,
  Server,
  type WebhookDelivery,
  type WebhookEndpoint,
  type WebhookEndpointState,
} from 'framework'
import { testClock, testServer } from 'framework/testing'
import { afterEach, expect, test, vi } from 'vitest'
import { memoryLogger } from '../../support/kernel.ts'

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const next = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDazfLe7A='
const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

/** A server of someone else, on loopback. */
async function receiver(respond: (req: IncomingMessage, res: ServerResponse, body: string) => void): Promise<string> {
  const server: HttpServer = createServer(async (req, res) => {
    let body = ''
    for await (const chunk of req) body += chunk
    respond(req, res, body)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  cleanups.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook?of=us`
}

let queues = 0

/** A server that sends webhooks to one endpoint. */
async function sender(endpoint: Partial<WebhookEndpoint>, options: Partial<OutgoingWebhooksOptions> = {}) {
  const kept: WebhookEndpoint = { url: 'https://example.org', secret, ...endpoint }
  const states: WebhookEndpointState[] = []
  const failures: string[] = []
  const logger = memoryLogger()
  const queue = memoryQueue<WebhookDelivery>(`webhooks-${queues++}`)
  const server = new Server({
    router: new RouteCollection(),
    logger,
    background: {
      queues: { run: true, config: { memory: { errorHandler: (error) => void failures.push(error.message) } } },
    },
    plugins: {
      webhooks: {
        outgoing: {
          queue,
          find: (name) => (name === 'customer-7' ? kept : undefined),
          update(_, state) {
            states.push(state)
            Object.assign(kept, state)
          },
          attempts: 3,
          backoff: 0,
          allow: ['127.0.0.0/8'],
          ...options,
        },
      },
    },
    port: 0,
    host: '127.0.0.1',
    drainWindow: 0,
  })
  await server.listen()
  cleanups.push(() => server.close())
  const deliver = (event: object = {}) =>
    server.services.get('webhooks').deliver('customer-7', { type: 'order.paid', data: { order: 7 }, ...event })
  return { server, deliver, kept, states, failures, log: logger.entries }
}

test('an event arrives signed with every secret, and the plugin accepts it', async () => {
  const accepted: object[] = []
  const theirs = new Server({
    port: 0,
    host: '127.0.0.1',
    plugins: { webhooks: true, json: true },
    router: new RouteCollection(),
    logger: memoryLogger(),
    drainWindow: 0,
  })
  // A receiver that has changed to the new secret, and one that has not.
  for (const [path, one] of [
    ['/new', next],
    ['/old', secret],
  ] as const)
    theirs.post(path, { webhook: { scheme: 'standard', secret: one } }, (req, res) => {
      accepted.push({ id: req.webhook.id, body: (req as { body?: unknown }).body })
      res.noContent()
    })
  await theirs.listen()
  cleanups.push(() => theirs.close())
  const { deliver, kept, states } = await sender({ secret: [next, secret] })
  for (const path of ['/new', '/old']) {
    Object.assign(kept, { url: `http://127.0.0.1:${theirs.port}${path}` })
    const sent = await deliver({ timestamp: new Date(1_700_000_000_000) })
    await vi.waitUntil(() => accepted.length > 0, 20_000)
    expect(accepted.splice(0)).toEqual([
      { id: sent!.id, body: { type: 'order.paid', timestamp: '2023-11-14T22:13:20.000Z', data: { order: 7 } } },
    ])
    expect(sent!.id).toMatch(/^msg_[\w-]{36}$/)
  }
  expect(states).toEqual([])
})

test('an endpoint that fails is tried again with the same id, and its failure ends with the first success', async () => {
  const seen: unknown[] = []
  const url = await receiver((req, res) => {
    seen.push([req.headers['webhook-id'], req.url, req.headers['content-type']])
    res.statusCode = seen.length < 3 ? 503 : 200
    res.end('later')
  })
  const { deliver, states, failures } = await sender({ url })
  await deliver({ id: 'evt_1' })
  await vi.waitUntil(() => states.length === 2, 20_000)
  expect(seen).toEqual(Array(3).fill(['evt_1', '/hook?of=us', 'application/json']))
  expect(states).toEqual([
    { failingSince: expect.any(Date), isDisabled: false },
    { failingSince: null, isDisabled: false },
  ])
  const said = 'the webhook endpoint "customer-7" did not accept the event: it responded with 503: later'
  expect(failures).toEqual([said, said])
})

test('an endpoint that does nothing but fail is disabled after the time, and gets nothing more', async () => {
  using clock = testClock(new Date('2026-01-01T00:00:00Z'))
  let calls = 0
  const { deliver, states, failures, kept, log } = await sender(
    {},
    {
      attempts: 20,
      backoff: { type: 'fixed', delay: 86_400_000 },
      send: async () => {
        calls++
        return { status: 500 }
      },
    },
  )
  await deliver()
  await clock.advance('20 days')
  expect(calls).toBe(6)
  expect(states).toEqual([
    { failingSince: new Date('2026-01-01T00:00:00Z'), isDisabled: false },
    { failingSince: new Date('2026-01-01T00:00:00Z'), isDisabled: true },
  ])
  // The message is not lost: it fails until its attempts are used, and an operator can send it again.
  expect(failures.length).toBe(20)
  expect(failures.at(-1)).toContain('is disabled')
  expect(
    log.some(({ message }) => message === 'the webhook endpoint "customer-7" is disabled: it responded with 500'),
  ).toBe(true)
  expect(await deliver()).toBeUndefined()
  Object.assign(kept, { isDisabled: false, failingSince: null })
  expect(await deliver()).toEqual({ id: expect.any(String) })
})

test('410 disables at once', async () => {
  const { deliver, states, failures } = await sender({}, { attempts: 1, send: async () => ({ status: 410 }) })
  await deliver()
  await vi.waitUntil(() => failures.length === 1, 20_000)
  expect(states).toEqual([{ failingSince: expect.any(Date), isDisabled: true }])
})

test('an attempt ends with its time limit, whatever the endpoint does', async () => {
  const url = await receiver(() => {})
  const { deliver, failures } = await sender({ url }, { attempts: 1, timeout: 100 })
  await deliver()
  await vi.waitUntil(() => failures.length === 1, 20_000)
  expect(failures[0]).toContain('has not finished within 100 ms')
})

test('a redirect is not followed, and a response without an end is not read to it', async () => {
  const paths: (string | undefined)[] = []
  const url = await receiver((req, res) => {
    paths.push(req.url)
    res.writeHead(302, { location: '/elsewhere' })
    const timer = setInterval(() => res.write('x'.repeat(1_000)), 1)
    res.on('close', () => clearInterval(timer))
  })
  const { deliver, failures } = await sender({ url }, { attempts: 1 })
  await deliver()
  await vi.waitUntil(() => failures.length === 1, 20_000)
  expect(paths).toEqual(['/hook?of=us'])
  expect(failures[0]).toContain(`it responded with 302: ${'x'.repeat(200)}`)
  expect(failures[0]!.length).toBeLessThan(400)
})

test.each([
  ['http://localhost', '"localhost" is not a public address'],
  ['http://127.0.0.1:80/', '"127.0.0.1" is not a public address'],
  ['https://0x7f.1/', '"127.0.0.1" is not a public address'],
  ['https://2130706433/', '"127.0.0.1" is not a public address'],
  ['https://0/', 'is not a public address'],
  ['https://10.1.2.3', 'is not a public address'],
  ['https://172.31.0.1', 'is not a public address'],
  ['https://192.168.1.1', 'is not a public address'],
  ['https://100.64.0.1', 'is not a public address'],
  ['http://169.254.169.254/latest/meta-data', 'is not a public address'],
  ['https://224.0.0.1', 'is not a public address'],
  ['https://255.255.255.255', 'is not a public address'],
  ['https://[::1]/', '"::1" is not a public address'],
  ['https://[::]/', 'is not a public address'],
  ['https://[::ffff:10.0.0.1]/', 'is not a public address'],
  ['https://[::ffff:7f00:1]/', 'is not a public address'],
  ['https://[::127.0.0.1]/', 'is not a public address'],
  ['https://[64:ff9b::7f00:1]/', 'is not a public address'],
  ['https://[2002:7f00:1::]/', 'is not a public address'],
  ['https://[2001:0:1::]/', 'is not a public address'],
  ['https://[fe80::1]/', 'is not a public address'],
  ['https://[fd00::1]/', 'is not a public address'],
  ['https://[ff02::1]/', 'is not a public address'],
  ['http://93.184.216.34/', 'its address is not one of https'],
  ['https://user:password@example.org', 'without user name and password'],
  ['ftp://example.org', 'its address is not one of https'],
  ['file:///etc/passwd', 'its address is not one of https'],
  ['/relative', 'its address is not one of https'],
])('%s is not reached', async (url, why) => {
  const { deliver, failures } = await sender({ url }, { attempts: 1, allow: [] })
  await deliver()
  await vi.waitUntil(() => failures.length === 1, 20_000)
  expect(failures[0]).toContain(why)
})

test('what cannot be delivered is refused before it is in the queue', async () => {
  const { server, deliver, kept } = await sender({})
  await expect(server.services.get('webhooks').deliver('nobody', { type: 'a', data: 1 })).rejects.toThrow(
    'the webhook endpoint "nobody" does not exist',
  )
  await expect(deliver({ type: '' })).rejects.toThrow('the option "deliver.type" is ""')
  await expect(deliver({ timestamp: new Date('x') })).rejects.toThrow('a valid Date')
  await expect(deliver({ typ: 'a' })).rejects.toThrow('typ')
  await expect(deliver({ id: 'order-€' })).rejects.toThrow('"deliver.id" is "order-€"; it takes 1 to 255 visible ASCII')
  for (const id of ['order-ü', 'a\nb', 'a\n', 'a b', '', 'a'.repeat(256), 7])
    await expect(deliver({ id }), String(id)).rejects.toMatchObject({ code: 'OptionError' })
  await expect(deliver({ data: 1n })).rejects.toMatchObject({ code: 'QueuePayloadError' })
  Object.assign(kept, { secret: 'short' })
  await expect(deliver()).rejects.toThrow('does not have a secret of Standard Webhooks')
  Object.assign(kept, { secret: [] })
  await expect(deliver()).rejects.toThrow('does not have a secret of Standard Webhooks')
  await using silent = new Server({
    router: new RouteCollection(),
    plugins: { webhooks: true },
    logger: memoryLogger(),
  })
  await silent.ready()
  await expect(silent.services.get('webhooks').deliver('a', { type: 'a', data: 1 })).rejects.toMatchObject({
    code: 'WebhookSendingError',
  })
})

test.each([
  [{ queue: {} }, 'outgoing.queue'],
  [{ find: undefined }, 'outgoing.find'],
  [{ update: undefined }, 'outgoing.update'],
  [{ allow: ['10.0.0.0/33'] }, 'outgoing.allow'],
  [{ attempts: 0 }, 'outgoing.attempts'],
  [{ backoff: { type: 'exponental' } }, 'outgoing.backoff'],
  [{ disableAfter: 0 }, 'outgoing.disableAfter'],
  [{ retries: 3 }, 'retries'],
])('%#: a wrong option is an error where the server is made', (wrong, named) => {
  const outgoing = { queue: memoryQueue('webhooks-wrong'), find: () => null, update() {}, ...wrong } as never
  expect(() => new Server({ router: new RouteCollection(), plugins: { webhooks: { outgoing } } })).toThrow(named)
})

test('a queue in memory needs the plugin that runs it, and says so where the server boots', async () => {
  const options = (queue: OutgoingWebhooksOptions['queue']) => ({
    router: new RouteCollection(),
    logger: memoryLogger(),
    plugins: { webhooks: { outgoing: { queue, find: () => ({ url: 'https://example.org', secret }), update() {} } } },
  })
  const name = () => `webhooks-${queues++}`
  for (const queue of [memoryQueue<WebhookDelivery>(name()), portable<WebhookDelivery>(name())]) {
    await expect(new Server(options(queue)).ready()).rejects.toThrow(
      `the queue "${queue.name}" has no place in this server: it has no plugin "queues"`,
    )
  }
  // The workers of another process send what is in Redis.
  await using publisher = new Server(options(bullmqQueue<WebhookDelivery>(name())))
  await publisher.ready()
})

test('in a test, nothing leaves the process', async () => {
  const queue = memoryQueue<WebhookDelivery>('webhooks-tested')
  const states: unknown[] = []
  const app = new Server({
    router: new RouteCollection(),
    logger: memoryLogger(),
    background: { queues: { run: true } },
    plugins: {
      webhooks: {
        outgoing: {
          queue,
          find: () => ({ url: 'https://example.org', secret }),
          update: (_, state) => void states.push(state),
        },
      },
    },
  })
  await using server = await testServer(app, { services: 'memory' })
  await app.services.get('webhooks').deliver('customer-7', { type: 'order.paid', data: 1 })
  await server.settled()
  expect(states).toEqual([])
})
