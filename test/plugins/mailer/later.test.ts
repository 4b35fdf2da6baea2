import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { inspect, promisify } from 'node:util'
import {
  definePlugin,
  type MailBuilder,
  Mailer,
  type MailMessage,
  type MailTransporter,
  memoryQueue,
  memoryTransport,
  RouteCollection,
  Server,
} from 'framework'
import { clock } from 'framework/kernel'
import { type TestClock, testClock } from 'framework/testing'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { runningServer } from '../../../plugins/shared/values/running-server.ts'
import { type Entry, memoryLogger } from '../../support/kernel.ts'

const from = 'shop@example.org'
const mail = (subject: string) => (one: MailBuilder) => one.to('ada@example.org').subject(subject)

/** A transporter that records its attempts, and fails on demand. */
function recording(fails: (subject: string, attempt: number) => unknown = () => undefined) {
  const attempts: { subject: string; at: number }[] = []
  const transporter: MailTransporter = {
    async sendMail(message: MailMessage) {
      attempts.push({ subject: message.subject, at: clock.now() })
      const error = fails(message.subject, attempts.filter(({ subject }) => subject === message.subject).length)
      if (error !== undefined) throw error
    },
  }
  return { transporter, attempts, order: () => attempts.map(({ subject }) => subject) }
}

const open: Mailer[] = []
function makeMailer(transporter: MailTransporter, timeout?: number): { mailer: Mailer; log: Entry[] } {
  const mailer = new Mailer({ main: { transporter, from } }, { defaultProvider: 'main', ...(timeout && { timeout }) })
  const { entries, ...logger } = memoryLogger()
  mailer.mount({}, logger)
  open.push(mailer)
  return { mailer, log: entries }
}
let time: TestClock | undefined
const takeClock = () => {
  time = testClock()
  return time
}
afterEach(async () => {
  for (const mailer of open.splice(0)) await mailer.close({ timeout: 10 })
  time?.restore()
})

describe('later', () => {
  test('sends one email a second, whatever becomes of the one before', async () => {
    const time = takeClock()
    const { transporter, attempts, order } = recording((subject, attempt) =>
      subject === 'b' && attempt === 1 ? new Error('busy') : undefined,
    )
    const { mailer, log } = makeMailer(transporter)
    const ids = await Promise.all(['a', 'b', 'c'].map((subject) => mailer.later(mail(subject))))
    expect(new Set(ids.map(({ id }) => id)).size).toBe(3)
    expect(mailer.waiting).toBeGreaterThan(0)
    await time.advance(10_000)
    expect([order(), mailer.waiting]).toEqual([['a', 'b', 'c', 'b'], 0])
    const gaps = attempts.slice(1).map(({ at }, index) => at - attempts[index]!.at)
    expect(gaps).toEqual([1000, 1000, 1000])
    expect(log).toMatchObject([{ level: 'warn', fields: { mail: ids[1]!.id } }])
  })

  test('gives an email up after three more attempts, by id', async () => {
    const time = takeClock()
    const { transporter, attempts } = recording(() => new Error('down'))
    const { mailer, log } = makeMailer(transporter)
    const { id } = await mailer.later(mail('a'))
    await time.advance(2999)
    expect(attempts).toHaveLength(3)
    await time.advance(10_000)
    expect([attempts.length, mailer.waiting]).toEqual([4, 0])
    expect(log.map(({ level, fields }) => [level, fields.mail])).toEqual([
      ['warn', id],
      ['warn', id],
      ['warn', id],
      ['error', id],
    ])
    expect(log.at(-1)!.message).toBe(`the email ${id} was not delivered`)
    expect(JSON.stringify(log)).not.toContain('ada@')
  })

  test('does not retry an email that the server refuses permanently', async () => {
    const { transporter, attempts } = recording(() => Object.assign(new Error('no such user'), { responseCode: 550 }))
    const { mailer, log } = makeMailer(transporter)
    await mailer.later(mail('a'))
    await vi.waitUntil(() => log.length === 1, 20_000)
    expect([attempts.length, log[0]!.level, mailer.waiting]).toEqual([1, 'error', 0])
  })

  test('tries again when one of the recipients was refused for now only', async () => {
    const rejectedErrors = [{ responseCode: 451 }, { responseCode: 550 }]
    const { transporter, attempts } = recording(() =>
      Object.assign(new Error('no'), { responseCode: 550, rejectedErrors }),
    )
    const { mailer, log } = makeMailer(transporter)
    await mailer.later(mail('a'))
    await vi.waitUntil(() => log.length === 1, 20_000)
    expect([attempts.length, log[0]!.level, mailer.waiting]).toEqual([1, 'warn', 1])
  })

  test('logs no address, though the server repeats it', async () => {
    const { transporter } = recording(() =>
      Object.assign(new Error('550 <ada@example.org> is unknown'), { responseCode: 550, recipient: 'ada@example.org' }),
    )
    const { mailer, log } = makeMailer(transporter)
    await mailer.later(mail('a'))
    await vi.waitUntil(() => log.length === 1, 20_000)
    expect(log[0]!.fields.reason).toBe('the provider "main" did not accept the email: 550 <…> is unknown')
    expect(inspect(log, { depth: 9 })).not.toContain('ada@')
  })

  test('a mistake in the email rejects, and ends nothing when no one looks', async () => {
    const { mailer, log } = makeMailer(memoryTransport())
    await expect(mailer.later((one) => one.subject('a'))).rejects.toMatchObject({ code: 'MailIncompleteError' })
    void mailer.later(() => Promise.reject(new Error('mine')))
    await vi.waitUntil(() => log.length === 2, 20_000)
    await mailer.later(mail('fine'))
    await vi.waitUntil(() => mailer.waiting === 0, 20_000)
  })

  test('is one queue for all providers', async () => {
    const time = takeClock()
    const { transporter, attempts } = recording()
    const provider = { transporter, from } as const
    const mailer = new Mailer({ a: provider, b: provider }, { defaultProvider: 'a' })
    open.push(mailer)
    await Promise.all([mailer.later(mail('a')), mailer.use('b').later(mail('b'))])
    await time.advance(5000)
    expect(attempts).toHaveLength(2)
    expect(attempts[1]!.at - attempts[0]!.at).toBe(1000)
  })

  test('has a bound', async () => {
    const { mailer } = makeMailer({ sendMail: () => new Promise(() => {}) })
    const all = await Promise.allSettled(Array.from({ length: 10_001 }, (_, i) => mailer.later(mail(`${i}`))))
    const refused = all.filter(({ status }) => status === 'rejected')
    expect(refused).toMatchObject([{ reason: { code: 'MailQueueFullError' } }])
  })
})

describe('closing', () => {
  test('sends waiting emails, without pauses, and accepts no more', async () => {
    const { transporter, order } = recording((subject) => (subject === 'd' ? new Error('down') : undefined))
    const { mailer, log } = makeMailer(transporter)
    // One a second would take thirty.
    const subjects = ['a', 'b', 'c', 'd', ...Array.from({ length: 26 }, (_, i) => `${i}`)]
    const ids = await Promise.all(subjects.map((subject) => mailer.later(mail(subject))))
    const start = performance.now()
    await Promise.all([mailer.close(), mailer.close()])
    expect(performance.now() - start).toBeLessThan(20_000)
    expect(order()).toEqual(subjects)
    expect(log).toMatchObject([{ level: 'error', fields: { mail: ids[3]!.id } }])
    await expect(mailer.send(mail('f'))).rejects.toMatchObject({ code: 'MailClosedError' })
    await expect(mailer.later(mail('f'))).rejects.toMatchObject({ code: 'MailClosedError' })
  })

  test('logs by id the emails that it cannot send in time, including one in progress', async () => {
    const { mailer, log } = makeMailer({ sendMail: () => new Promise(() => {}) })
    const sending = mailer.send(mail('now'))
    const ids = [await mailer.later(mail('a')), await mailer.later(mail('b'))].map(({ id }) => id)
    await Promise.all([
      expect(sending).rejects.toMatchObject({ code: 'MailSendError' }),
      mailer.close({ timeout: 200 }),
    ])
    const lost = log.filter(({ level }) => level === 'error').map(({ fields }) => fields.mail)
    expect(lost.sort()).toEqual([...ids].sort())
  })

  test('one slow email does not take the time of those that wait', async () => {
    const { transporter, order } = recording()
    const { mailer, log } = makeMailer({
      sendMail: (one) => (one.subject === 'slow' ? new Promise(() => {}) : transporter.sendMail(one)),
    })
    const slow = mailer.send(mail('slow'))
    for (const subject of ['a', 'b', 'c']) await mailer.later(mail(subject))
    await Promise.all([expect(slow).rejects.toThrow('the mailer closed'), mailer.close({ timeout: 2000 })])
    expect([order(), log]).toEqual([['a', 'b', 'c'], []])
  })

  test('a callback that never ends is abandoned', async () => {
    const { mailer } = makeMailer(memoryTransport())
    let end = () => {}
    const written = new Promise<void>((resolve) => {
      end = resolve
    })
    const both = ['send', 'later'].map((how) =>
      mailer[how as 'send']((one) => written.then(() => void mail('late')(one))),
    )
    await mailer.close({ timeout: 100 })
    end()
    expect(await Promise.allSettled(both)).toMatchObject([
      { status: 'rejected', reason: { code: 'MailSendError' } },
      { status: 'rejected', reason: { code: 'MailClosedError' } },
    ])
  })

  test('waits for emails that are still being written', async () => {
    const outbox = memoryTransport()
    const { mailer } = makeMailer(outbox)
    const later = mailer.later(async (one) => {
      await new Promise((resolve) => setTimeout(resolve, 50))
      mail('slow')(one)
    })
    await mailer.close()
    await later
    outbox.assertSent({ subject: 'slow' })
  })
})

describe('the plugin', () => {
  const quiet = { port: 0, host: '127.0.0.1', gracefulShutdown: false, drainWindow: 0 } as const

  test('is at services.mailer, and closes with the server', async () => {
    const outbox = memoryTransport()
    const logger = memoryLogger()
    const server = new Server({
      ...quiet,
      logger,
      plugins: {
        mailer: { providers: { main: { transporter: outbox, from } }, defaultProvider: 'main' },
        health: { checks: { mail: (): Promise<true> => server.services.get('mailer').verify() } },
      },
    })
    server.post('/orders', async () => server.services.get('mailer').later(mail('order')))
    await server.listen()
    for (let i = 0; i < 3; i++) (await server.inject.post('/orders')).assertStatus(200)
    ;(await server.inject.get('/health/ready')).assertBodySubset({ checks: { mail: 'ok' } })
    await server.close()
    outbox.assertCount(3)
    await expect(server.services.get('mailer').send(mail('late'))).rejects.toMatchObject({ code: 'MailClosedError' })
  })

  test('a server that hangs does not keep the server from closing', async () => {
    const logger = memoryLogger()
    const transporter = { sendMail: () => new Promise(() => {}) }
    const plugins = { mailer: { providers: { main: { transporter, from } }, defaultProvider: 'main' } } as const
    const server = new Server({ ...quiet, logger, closeTimeout: 500, plugins })
    await server.listen()
    const { id } = await server.services.get('mailer').later(mail('a'))
    await server.close()
    expect(logger.entries.filter(({ level }) => level === 'error')).toMatchObject([{ fields: { mail: id } }])
  })

  test('sends waiting emails beside a request that hangs, from when the server begins to close', async () => {
    const outbox = memoryTransport()
    const plugins = {
      mailer: { providers: { main: { transporter: outbox, from } }, defaultProvider: 'main' },
    } as const
    const server = new Server({ ...quiet, logger: memoryLogger(), plugins })
    let hasBegun = () => {}
    const begun = new Promise<void>((resolve) => {
      hasBegun = resolve
    })
    let end = () => {}
    server.get('/hangs', () => {
      hasBegun()
      return new Promise<void>((resolve) => {
        end = resolve
      })
    })
    const { port } = await server.listen()
    const later = (subject: string) => server.services.get('mailer').later(mail(subject))
    for (let i = 0; i < 30; i++) await later(`${i}`)
    const answered = fetch(`http://127.0.0.1:${port}/hangs`)
    await begun
    const closed = server.close()
    // One a second would take thirty; a request in work may still add to them.
    await vi.waitUntil(() => outbox.sent.length === 30, 20_000)
    for (let i = 0; i < 30; i++) await later(`late ${i}`)
    await vi.waitUntil(() => outbox.sent.length === 60, 20_000)
    end()
    await Promise.all([answered, closed])
  })

  test('closes after the queues, whose last jobs may send', async () => {
    const outbox = memoryTransport()
    const orders = memoryQueue<string>('mailer-orders')
    const hooks = { close: () => {}, begin: () => {} }
    const closing = new Promise<void>((resolve) => {
      hooks.close = resolve
    })
    // Other keys come after those of the catalog, so it is the first to drain.
    const first = definePlugin({ name: 'first', setup: (ctx) => ctx.onDrain(() => hooks.close()) })
    const server = new Server({
      ...quiet,
      logger: memoryLogger(),
      plugins: {
        queues: { config: { memory: {} }, run: true },
        mailer: { providers: { main: { transporter: outbox, from } }, defaultProvider: 'main' },
        first: first(),
      },
    })
    const begun = new Promise<void>((resolve) => {
      hooks.begin = resolve
    })
    const subscribed = orders.subscribe(async () => {
      hooks.begin()
      await closing
      await new Promise((next) => setTimeout(next, 50))
      await server.services.get('mailer').send(mail('order'))
    })
    await server.listen()
    await orders.publish('a')
    await begun
    await server.close()
    outbox.assertSent({ subject: 'order' })
    await (await subscribed).unsubscribe()
  })

  test('a wrong option fails the registration', () => {
    const make = (options: unknown) => new Server({ plugins: { mailer: options as never } })
    expect(() => make({ providers: {}, defaultProvider: 'main' })).toThrow(
      /^the option "plugins\.mailer\.providers" is an empty object; it takes \{ name: \{ transporter, templateAdapter, from \} \}$/,
    )
    const needed = `"plugins.mailer" needs at least one provider: { providers: { main: { transporter: "smtp://…", from: "shop@example.org" } }, defaultProvider: "main" }`
    expect(() => make(true)).toThrow(`${needed}`)
  })

  test('no password is listed with the plugin', () => {
    const auth = { user: 'shop', pass: 'hunter2', clientSecret: 'hunter2' }
    const a = { transporter: { host: 'mail.example.org', auth }, from: 'a@b.c' } as const
    const b = { transporter: 'smtp://me:hunter2@mail.example.org', from: 'a@b.c' } as const
    const c = { transporter: { sendMail: async () => {}, options: { auth } }, from: 'a@b.c' } as const
    const server = new Server({ plugins: { mailer: { providers: { a, b, c }, defaultProvider: 'a' } } })
    const listed = JSON.stringify(server.plugins)
    expect(listed).not.toContain('hunter2')
    expect(listed).toContain('"host":"mail.example.org","auth":{"user":"shop","pass":"(secret)"}')
  })
})

test('with two servers, each attempt is work of the server whose mailer sends the email', async () => {
  const orders = memoryQueue<string>('orders of mailers')
  const sent: unknown[] = []
  const transporter: MailTransporter = {
    async sendMail({ subject }) {
      sent.push([subject, runningServer()])
      await orders.publish(subject)
    },
  }
  const providers = { main: { transporter, from } }
  const server = () =>
    new Server({
      ...{ router: new RouteCollection(), logger: memoryLogger(), gracefulShutdown: false },
      plugins: { mailer: { providers, defaultProvider: 'main' }, queues: true },
    })
  const [a, b] = [server(), server()]
  await Promise.all([a.ready(), b.ready()])
  await Promise.all([a.services.mailer.later(mail('a')), b.services.mailer.later(mail('b'))])
  await expect
    .poll(async () => [await orders.for(a).counts(), await orders.for(b).counts()])
    .toMatchObject([{ waiting: 1 }, { waiting: 1 }])
  expect(sent).toEqual([
    ['a', a],
    ['b', b],
  ])
  await Promise.all([a.close(), b.close()])
})

test('a process stays until its emails are sent, and then ends', async () => {
  const script = `
    import { Mailer, memoryTransport } from ${JSON.stringify(join(import.meta.dirname, '../../../dist/index.js'))}
    const outbox = memoryTransport()
    const mailer = new Mailer({ main: { transporter: outbox, from: 'a@b.c' } }, { defaultProvider: 'main' })
    for (const subject of ['a', 'b']) await mailer.later((mail) => mail.to('d@e.f').subject(subject))
    process.on('exit', () => console.log(outbox.sent.map(({ subject }) => subject).join()))`
  const start = performance.now()
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script])
  expect(stdout).toBe('a,b\n')
  expect(performance.now() - start).toBeGreaterThan(1000)
})

test('SIGTERM sends waiting emails before the process ends', async () => {
  const script = `
    import { memoryTransport, Server } from ${JSON.stringify(join(import.meta.dirname, '../../../dist/index.js'))}
    const outbox = memoryTransport()
    const providers = { main: { transporter: outbox, from: 'a@b.c' } }
    const server = new Server({ port: 0, host: '127.0.0.1', plugins: { mailer: { providers, defaultProvider: 'main' } } })
    await server.listen()
    for (let i = 0; i < 30; i++) await server.services.mailer.later((mail) => mail.to('d@e.f').subject(String(i)))
    process.on('exit', () => console.log(outbox.sent.length))
    process.kill(process.pid, 'SIGTERM')`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script])
  // One a second would take longer than a server waits for them.
  expect(stdout).toBe('30\n')
})
