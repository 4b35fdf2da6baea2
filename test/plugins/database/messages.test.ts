import { afterCommit, channel, createQueue, HttpError, memoryQueue, mqtt, pgbossQueue, Server } from 'framework'
import { describe, expect, test } from 'vitest'

declare module 'framework' {
  interface MqttTopics {
    'books/new': { title: string }
  }
}

const database = { url: 'sqlite::memory:' } as const

async function listen(server: Server) {
  await server.listen()
  await server.services.get('databases').client().query('create table books (title text not null unique)')
}

async function titles(server: Server) {
  const { rows } = await server.services.get('databases').client().query('select title from books order by title')
  return rows.map(({ title }) => title)
}

describe('what is sent in a transaction waits for its commit', () => {
  test('messages of queues, MQTT and channels, cache invalidations and emails', async () => {
    const queue = memoryQueue<{ title: string }>('of-transactions')
    const news = channel('news-of-transactions', { join: () => true })
    const seen: string[] = []
    const sent: unknown[] = []
    const transporter = { sendMail: async (mail: unknown) => ({ messageId: '<1@b.example>', mail: sent.push(mail) }) }
    await using server: Server = new Server({
      port: 0,
      background: { queues: { run: true }, mqtt: { connect: { provider: 'memory' } } },
      plugins: {
        database,
        cache: true,
        channels: true,
        websocket: true,
        mailer: { defaultProvider: 'main', providers: { main: { from: 'a@b.example', transporter } } },
      },
    })
    await queue.subscribe(({ title }) => void seen.push(`queue ${title}`))
    server.ws('/live', { channels: [news] }, {})
    server.get('/list', { cache: { tags: ['books'] } }, () => ({ at: process.hrtime.bigint().toString() }))
    server.post('/books/:title', { transaction: true }, async (req, res) => {
      const { title } = req.params
      await req.database.query('insert into books values (?)', [title])
      expect(await queue.publish({ title })).toEqual({ id: '' })
      expect(await news.publish({ title })).toEqual({ id: '' })
      await mqtt.publish('books/new', { title })
      expect(await server.services.get('cache').invalidate(['books'])).toBe(0)
      await server.services.get('mailer').send((mail) => mail.to('c@d.example').subject(title).text('new'))
      afterCommit(() => void seen.push(`after ${title}`))
      expect([...seen, ...sent]).toEqual([])
      if (title === 'refused') throw new HttpError(409, { code: 'NO', message: 'no' })
      return res.created()
    })
    await listen(server)
    server.services.get('mqtt').subscribe('books/new', ({ title }) => void seen.push(`mqtt ${title}`))
    const list = async () => (await server.inject.get('/list')).body()
    const before = await list()
    ;(await server.inject.post('/books/refused')).assertStatus(409)
    expect(await titles(server)).toEqual([])
    expect(await list()).toEqual(before)
    ;(await server.inject.post('/books/Emma')).assertStatus(201)
    expect(await titles(server)).toEqual(['Emma'])
    expect(sent).toHaveLength(1)
    expect(await list()).not.toEqual(before)
    await expect.poll(() => [...seen].sort()).toEqual(['after Emma', 'mqtt Emma', 'queue Emma'])
    expect(server.services.get('channels').counts.published).toBe(1)
  })

  test('what fails after the commit fails the request, and the rows stay', async () => {
    await using server: Server = new Server({ port: 0, plugins: { database } })
    const done: string[] = []
    const twice = 2
    server.post('/books', { transaction: { retry: twice } }, async (req, res) => {
      await req.database.query("insert into books values ('Emma')")
      afterCommit(() => {
        throw Object.assign(new Error('away'), { code: '40001' })
      })
      afterCommit(() => void done.push('the next one'))
      return res.created()
    })
    await listen(server)
    ;(await server.inject.post('/books')).assertStatus(500)
    expect(await titles(server)).toEqual(['Emma'])
    expect(done).toEqual(['the next one'])
  })

  test('what comes after a rollback is refused', async () => {
    const queue = memoryQueue('too-late')
    let late: Promise<unknown> | undefined
    await using server: Server = new Server({
      port: 0,
      background: { queues: { run: true } },
      plugins: { database },
    })
    server.post('/books', { transaction: true }, async (req, res) => {
      await req.database.query("insert into books values ('Emma')")
      late = new Promise((resolve) => setTimeout(resolve, 30)).then(() => queue.publish({}))
      late.catch(() => {})
      return res.status(400).json({})
    })
    await listen(server)
    ;(await server.inject.post('/books')).assertStatus(400)
    await expect(late).rejects.toMatchObject({ code: 'TransactionOverError' })
  })
})

test('only a client of pg-boss makes a message part of a transaction, and each message of several has one or none', async () => {
  const seen: unknown[] = []
  const engine = {
    publish: async (_name: string, n: number) => ({ id: String(seen.push(n)) }),
    subscribe: async () => async () => {},
    unsubscribe: async () => {},
  }
  const own = createQueue<number, { client: string }>('own-client', engine)
  const jobs = pgbossQueue<number>('mixed-clients')
  await using server = new Server({ port: 0, plugins: { database, queues: true } })
  await server.ready()
  const databases = server.services.get('databases').client()
  const fails = databases.transaction(async () => {
    await own.publish(1, { client: 'a' })
    throw new Error('no')
  })
  await expect(fails).rejects.toThrow('no')
  expect(seen).toEqual([])
  const client = { query: async () => ({ rows: [] }) }
  const mixed = () => jobs.publishMany([1, 2], (n) => (n === 1 ? { client } : undefined))
  await expect(databases.transaction(mixed)).rejects.toThrow(
    'the option "publishMany.client" is undefined; it takes a client for each message in a transaction, or for none',
  )
})

describe('subscribers with a transaction', () => {
  const serve = () => new Server({ port: 0, background: { queues: { run: true } }, plugins: { database } }) as Server

  test('a failed attempt of a queue is rolled back, and the next one has a transaction of its own', async () => {
    const queue = memoryQueue<{ title: string }>('with-transaction')
    const other = memoryQueue<{ title: string }>('with-transaction-other')
    const heard: string[] = []
    await using server = serve()
    let attempts = 0
    await other.subscribe(({ title }) => void heard.push(title))
    await queue.subscribe(
      async ({ title }) => {
        await server.services.get('database').query('insert into books values (?)', [title])
        await other.publish({ title: `${title} ${++attempts}` })
        if (attempts === 1) throw new Error('again')
      },
      { transaction: true },
    )
    await listen(server)
    await queue.publish({ title: 'Emma' }, { attempts: 2 })
    await expect.poll(() => heard).toEqual(['Emma 2'])
    expect(await titles(server)).toEqual(['Emma'])
  })

  test('a time limit of an attempt rolls back', async () => {
    const queue = memoryQueue('with-limit')
    let dead = 0
    await using server = serve()
    await queue.subscribe(
      async () => {
        await server.services.get('database').query("insert into books values ('Emma')")
        await new Promise(() => {})
      },
      { transaction: true, timeout: 50, onDead: () => void dead++ },
    )
    await listen(server)
    await queue.publish({})
    await expect.poll(() => dead).toBe(1)
    expect(await titles(server)).toEqual([])
  })

  test('one of MQTT', async () => {
    await using server: Server = new Server({
      port: 0,
      background: { mqtt: { connect: { provider: 'memory' } } },
      plugins: { database },
    })
    let ended = 0
    await listen(server)
    const handler = async ({ title }: { title: string }) => {
      await server.services.get('database').query('insert into books values (?)', [title])
      ended++
      if (title === 'refused') throw new Error('no')
    }
    await server.services.get('mqtt').subscribe('books/new', handler, { transaction: true })
    for (const title of ['refused', 'Emma']) await mqtt.publish('books/new', { title })
    await expect.poll(() => ended).toBe(2)
    await expect.poll(() => titles(server)).toEqual(['Emma'])
  })

  test('without the plugin, each message fails with the remedy', async () => {
    const queue = memoryQueue('without-plugin')
    const errors: Error[] = []
    await using server: Server = new Server({ port: 0, background: { queues: { run: true } } })
    await queue.subscribe(() => {}, { transaction: true, onDead: (_, error) => void errors.push(error) })
    await server.listen()
    await queue.publish({})
    const messages = () => errors.map(({ message }) => message)
    await expect.poll(messages).toEqual([expect.stringContaining('plugins: { database: { url } }')])
  })
})
