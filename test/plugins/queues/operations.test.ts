import { type GenericPubSub, memoryQueue, queue, RouteCollection, Server } from 'framework'
import { expect, test } from 'vitest'
import { type Entry, memoryLogger } from '../../support/kernel.ts'
import { freshName } from '../../support/queues.ts'

test('a change that fails in the middle is in the log with what it has done', async () => {
  let failed = Array.from({ length: 1200 }, (_, i) => `${i}`)
  let calls = 0
  const own: GenericPubSub = {
    publish: async () => ({ id: '1' }),
    subscribe: async () => {},
    unsubscribe: async () => {},
    operations: {
      list: async (_topic, state, from, limit) =>
        failed
          .slice(from, from + limit)
          .map((id) => ({ id, state, payload: 1, attempt: 1, attempts: 1, publishedAt: 1, errors: [] })),
      find: async () => undefined,
      retry: async (_topic, ids) => {
        if (++calls > 1) throw new Error('the engine is gone')
        failed = failed.filter((id) => !ids.includes(id))
        return ids.length
      },
      remove: async () => 0,
      pause: async () => {},
      resume: async () => {},
      isPaused: async () => false,
    },
  }
  const orders = queue<number>(freshName('orders'))
  const log: Entry[] = []
  const server = new Server({
    ...{ logger: memoryLogger(log), router: new RouteCollection(), gracefulShutdown: false },
    background: { queues: { config: { own, queues: { [orders.name]: 'own' } } } },
  })
  await server.ready()
  await expect(server.services.get('queues').of(orders.name).retry({ by: 'ann' })).rejects.toThrow('the engine is gone')
  const [line, ...others] = log.filter(({ message }) => message?.includes('sent again'))
  expect(line).toMatchObject({ fields: { queue: orders.name, by: 'ann', messages: 500 } })
  expect(others).toEqual([])
  await server.close()
})

test('secrets in a payload are redacted wherever they are, also where a line of the log would have ended', async () => {
  const orders = memoryQueue<object>(freshName('secrets'))
  const server = new Server({
    ...{ logger: memoryLogger(), router: new RouteCollection(), gracefulShutdown: false },
    background: { queues: { ui: true } },
  })
  await server.ready()
  const nested = Array.from({ length: 20 }).reduce<object>((inner) => ({ inner }), { password: 'sesame' })
  const list = Array.from({ length: 300 }, () => ({ password: 'sesame' }))
  await orders.publish({ text: 'see postgres://ann:sesame@db.internal/shop', nested, list })
  const [entry] = await server.services.get('queues').of(orders.name).list({ state: 'waiting' })
  const { text, ...payload } = entry!.payload as { text: string }
  expect(text).toContain('sesame')
  expect(JSON.stringify(payload)).not.toContain('sesame')
  for (const query of ['state=waiting', `id=${entry!.id}`]) {
    const page = (await server.inject.get(`/queues?queue=${orders.name}&${query}`)).text()
    expect(page).toContain(query === 'state=waiting' ? 'see …' : 'db.internal')
    expect(page).not.toContain('sesame')
  }
  await server.close()
})
