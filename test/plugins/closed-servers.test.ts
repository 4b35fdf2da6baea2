import { channel, memoryQueue, memoryTransport, queue, RouteCollection, Server, type WebhookDelivery } from 'framework'
import { expect, test } from 'vitest'
import { memoryLogger } from '../support/kernel.ts'
import { freshName, until } from '../support/queues.ts'

const common = () => ({
  router: new RouteCollection(),
  logger: memoryLogger([]),
  gracefulShutdown: false,
  drainWindow: 0,
})

test('what is sent through a closed server is refused with its name, and not accepted and lost', async () => {
  const orders = memoryQueue<number>(freshName('orders'))
  const portable = queue<number>(freshName('portable'))
  const deliveries = memoryQueue<WebhookDelivery>(freshName('webhooks'))
  const news = channel<string>('news', { join: () => true, presence: () => null })
  const endpoint = { url: 'https://example.org', secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' }
  const server = new Server({
    ...common(),
    ...{ port: 0, host: '127.0.0.1' },
    background: { queues: { run: true }, mqtt: { connect: { provider: 'memory' } } },
    plugins: {
      ...{ websocket: true, channels: true },
      webhooks: { outgoing: { queue: deliveries, find: () => endpoint, update: () => {} } },
      mailer: {
        providers: { main: { transporter: memoryTransport(), from: 'shop@example.org' } },
        defaultProvider: 'main',
      },
    },
  })
  await server.listen()
  const { url, services } = server
  const own = orders.for(server)
  await own.publish(1)
  await server.close()
  const closed = (what: string) => ({
    code: 'WorkClosedError',
    message: expect.stringContaining(`${what} belongs to the server ${url}, which has closed`),
  })
  for (const one of [own, orders.for(server), portable.for(server)]) {
    const refusal = closed(`the queue "${one.name}"`)
    await expect(one.publish(1)).rejects.toMatchObject(refusal)
    await expect(one.publishMany([1])).rejects.toMatchObject(refusal)
    await expect(one.publish(1, { repeat: { every: 1000 } } as never)).rejects.toMatchObject(refusal)
    await expect(one.subscribe(() => {})).rejects.toMatchObject(refusal)
  }
  expect(await own.counts()).toMatchObject({ waiting: 1 })
  await expect(news.for(server).publish('x')).rejects.toMatchObject(closed('publishing to the channel "news"'))
  await expect(news.for(server).present()).rejects.toMatchObject(closed('asking who is in the channel "news"'))
  await expect(services.get('mqtt').publish('climate', 'warm' as never)).rejects.toMatchObject(
    closed('publishing to "climate"'),
  )
  await expect(services.get('webhooks').deliver('a', { type: 'paid', data: {} })).rejects.toMatchObject(
    closed(`the queue "${deliveries.name}"`),
  )
  const mail = services.get('mailer').send((one) => one.to('ada@example.org').subject('x').text('y'))
  await expect(mail).rejects.toMatchObject({ code: 'MailClosedError' })
})

test('a queue is drained when closing no longer waits for a handler that never ends', async () => {
  const orders = memoryQueue<number>(freshName('hung'))
  const server = new Server({
    ...common(),
    ...{ port: 0, host: '127.0.0.1', closeTimeout: 200 },
    background: { queues: { run: true } },
  })
  await server.listen()
  let [calls, end] = [0, () => {}]
  await orders.subscribe(() => {
    calls++
    return new Promise<void>((resolve) => {
      end = resolve
    })
  })
  const own = orders.for(server)
  await own.publish(1)
  await until(() => calls === 1, 'the handler')
  const drained = own.drained()
  await server.close()
  await drained
  expect(await own.counts()).toMatchObject({ waiting: 0, active: 0, failed: 0 })
  end()
  await new Promise((resolve) => setImmediate(resolve))
  expect(await own.counts()).toMatchObject({ waiting: 0, active: 0, failed: 0 })
})
