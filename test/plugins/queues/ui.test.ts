import {
  bullmqQueue,
  createQueue,
  memoryQueue,
  pgbossQueue,
  type Queue,
  RouteCollection,
  Server,
  sqsQueue,
} from 'framework'
import { helmet, queues } from 'framework/plugins'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { pagesOf } from '../../../plugins/shared/development/pages.ts'
import type { DoctorCheck } from '../../../plugins/shared/doctor/check.ts'
import { memoryLogger } from '../../support/kernel.ts'
import { freePort } from '../../support/own-server.ts'
import { hasPostgres, startPostgres } from '../../support/postgres.ts'
import { freshName } from '../../support/queues.ts'
import { hasRedis, startRedis } from '../../support/redis.ts'
import { failing, fromPage, nasty, serve, staff, staffOnly } from './ui-support.ts'

const stop: (() => unknown)[] = []
afterEach(async () => {
  for (const one of stop.splice(0).reverse()) await one()
  vi.unstubAllEnvs()
})

async function open(...given: Parameters<typeof serve>) {
  const opened = await serve(...given)
  stop.push(() => opened.server.close())
  return opened
}

const boom = () => new Error('boom')

describe('the page', () => {
  test('shows the counts of every queue, those with trouble first, and links to their messages', async () => {
    const { server, get } = await open(true)
    const calm = memoryQueue(`a-${freshName('calm')}`)
    await calm.for(server).publish(1, { delay: 60_000 })
    const { name } = await failing(server, [1, 2, 3], boom)
    const res = await get()
    res
      .assertStatus(200)
      .assertHeader('content-type', 'text/html; charset=utf-8')
      .assertHeader('cache-control', 'no-store')
    const text = res.text()
    expect(text).toContain(
      `<a class="failed" href="?queue=${name}&amp;state=failed" aria-label="3 failed in ${name}">3</a>`,
    )
    expect(text).toContain(`aria-label="1 delayed in ${calm.name}">1</a>`)
    expect(text.indexOf(`>${name}<`)).toBeLessThan(text.indexOf(`>${calm.name}<`))
  })

  test('lists messages by state, 50 at a time', async () => {
    const { server, get } = await open(true)
    const queue = memoryQueue<number>(freshName('waiting'))
    for (let i = 1; i <= 120; i++) await queue.for(server).publish(i)
    const ask = async (more: object) => (await get({ queue: queue.name, state: 'waiting', ...more })).text()
    const first = await ask({})
    expect(first).toContain('waiting 120')
    expect(first).toContain('1 to 50')
    expect(first.match(/<input type="checkbox" name="id"/g)).toHaveLength(50)
    expect(first).toContain('&amp;from=50">Next</a>')
    expect(first).not.toContain('Previous')
    const last = await ask({ from: 100 })
    expect(last).toContain('101 to 120')
    expect(last).toContain('&amp;from=50">Previous</a>')
    expect(last).not.toContain('Next')
    expect(last.match(/ checked>/g)).toBeNull()
    expect((await ask({ from: 100, select: 'all' })).match(/ checked>/g)).toHaveLength(20)
    for (const from of ['-1', '1.5', 'x', '9e99']) expect(await ask({ from })).toContain('1 to 50')
    expect(await ask({ from: 500 })).toContain('No waiting message here.')
    expect(await ask({ state: 'none' })).toContain('No failed message.')
  })

  test('shows one message: its payload redacted, attempts, errors with stacks, times, version and trace', async () => {
    const { server, get } = await open(true)
    const name = freshName('one')
    const queue = memoryQueue<object>(name, { version: 2, upgrade: (payload) => payload as object, attempts: 2 })
    await queue.subscribe(() => {
      throw new Error('cannot reach postgres://ann:hunter2@db/shop')
    })
    const { id } = await queue
      .for(server)
      .publish({ book: 7, password: 'hunter2' }, { id: 'order 7', expireIn: 60_000 })
    await expect.poll(async () => (await queue.for(server).counts()).failed).toBe(1)
    const text = (await get({ queue: name, id })).text()
    expect(text).toContain('<dd>2 of 2</dd>')
    expect(text).toContain('&quot;book&quot;: 7')
    expect(text).toContain('[redacted]')
    expect(text).toContain('<dt>Version</dt><dd>2</dd>')
    expect(text).toContain('<dt>Expires</dt><dd><time')
    expect(text).toContain('    at ')
    expect(text.match(/<summary>cannot reach/g)).toHaveLength(2)
    expect(text).not.toContain('hunter2')
    expect((await get({ queue: name, state: 'failed' })).text()).not.toContain('hunter2')
    const gone = await get({ queue: name, id: 'none' })
    gone.assertStatus(404)
    expect(gone.text()).toContain('This message no longer exists')
  })

  test('escapes what strangers have written, wherever it is shown', async () => {
    const { server, get, click } = await open(true)
    const queue = memoryQueue<unknown>(`${freshName('odd')} ${nasty}`)
    await queue.subscribe((payload) => {
      if (payload !== 'waits') throw new Error(`${nasty}\n</pre>${nasty}`)
    })
    const own = queue.for(server)
    const { id } = await own.publish({ [nasty]: nasty, long: 'x'.repeat(90_000) }, { id: nasty })
    await expect.poll(async () => (await own.counts()).failed).toBe(1)
    await own.publish(nasty, { id: `${nasty} 2`, delay: 60_000 })
    const pages = [
      await get(),
      await get({ queue: queue.name }),
      await get({ queue: queue.name, state: 'delayed' }),
      await get({ queue: queue.name, id }),
      await get({ queue: nasty }),
      await get({ queue: queue.name, id: nasty.repeat(2) }),
      await get({ queue: queue.name, done: nasty, count: nasty, refresh: nasty, from: nasty }),
      await click({ queue: queue.name }, [
        ['do', 'empty'],
        ['states', nasty],
      ]),
    ]
    for (const page of pages) {
      const text = page.text()
      expect(text).toContain('&lt;script&gt;')
      expect(text).not.toContain('<script')
      expect(text).not.toContain('<b ')
      expect(text.length).toBeLessThan(100_000)
      expect(text).not.toContain('role="status"')
    }
  })

  test('shows what is not a message of this framework', async () => {
    const { get } = await open(true)
    const circle: Record<string, unknown> = {}
    circle.circle = circle
    const entries = [
      { id: 'a', payload: circle, publishedAt: Number.NaN, dueAt: 1e300, meta: { expires: 1e300, version: 'x' } },
      { id: 'b', payload: undefined, publishedAt: undefined, meta: 3 },
      { id: 'c', payload: 10n, publishedAt: 1e18, meta: { traceparent: nasty } },
    ].map((one) => ({ state: 'failed' as const, attempt: 1, attempts: undefined, errors: [], ...one }))
    const name = freshName('foreign')
    createQueue(name, {
      publish: async () => ({ id: '1' }),
      subscribe: async () => {},
      unsubscribe: async () => {},
      operations: {
        list: async () => entries,
        find: async (_topic, id) => entries.find((one) => one.id === id),
        retry: async () => 0,
        remove: async () => 0,
        pause: async () => {},
        resume: async () => {},
        isPaused: async () => true,
      },
    })
    const list = await get({ queue: name })
    list.assertStatus(200)
    expect(list.text()).toContain('<span class="badge">paused</span>')
    expect(list.text().match(/<td>unknown<\/td>/g)).toHaveLength(3)
    for (const { id } of entries) (await get({ queue: name, id })).assertStatus(200)
  })

  test('has a policy that forbids all loads, also after helmet', async () => {
    const { get } = await open({ path: '/queues/' }, { plugins: { helmet: true } })
    const page = await get()
    expect(page.headers()['content-security-policy']).toMatch(
      /^default-src 'none'; style-src 'sha256-[\w+/=]+'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'$/,
    )
    page.assertHeader('referrer-policy', 'same-origin').assertHeader('x-frame-options', 'DENY')
  })

  test('reloads the same list when it is asked to', async () => {
    const { server, get } = await open(true)
    const { name } = await failing(server, [1], boom)
    expect((await get({ refresh: 10 })).text()).toContain('content="10;url=?refresh=10"')
    const list = (await get({ queue: name, state: 'failed', refresh: 10 })).text()
    expect(list).toContain(`content="10;url=?queue=${name}&amp;state=failed&amp;from=0&amp;refresh=10"`)
    expect((await get({ refresh: 1 })).text()).not.toContain('http-equiv')
  })

  test('an unknown queue is a 404 that names the nearest; of two with one name, the page says so', async () => {
    const { server, get, click } = await open(true)
    const { name } = await failing(server, [1], boom)
    const near = await get({ queue: `${name}x` })
    near.assertStatus(404)
    expect(near.text()).toContain(`Did you mean &quot;${name}&quot;`)
    ;(await click({ queue: `${name}x` }, [['do', 'pause']])).assertStatus(404)
    ;(await click({}, [['do', 'pause']])).assertStatus(404)
    createQueue(name, {
      publish: async () => ({ id: '1' }),
      subscribe: async () => {},
      unsubscribe: async () => {},
      name: freshName('second'),
    })
    const both = await get()
    both.assertStatus(200)
    expect(both.text()).toContain(`there are queues &quot;${name}&quot; of`)
  })

  test('says that queues in memory are those of one worker', async () => {
    const { server, get } = await open(true)
    memoryQueue(freshName('here'))
    expect((await get()).text()).not.toContain('Worker')
    vi.spyOn(server, 'worker', 'get').mockReturnValue({ number: 2, of: 4 })
    expect((await get()).text()).toContain('Worker 2 of 4 responded. Each worker has queues in memory of its own')
    vi.restoreAllMocks()
  })
})

describe('changes', () => {
  test('send failed messages again: one, the selected, and all', async () => {
    const { server, click, get, log } = await open(true)
    const { name, handled, operator, mend } = await failing(server, [1, 2, 3, 4, 5], boom)
    mend()
    const [e, d, c] = (await operator.list()).map(({ id }) => id)
    const one = await click({ queue: name, state: 'failed' }, [
      ['do', 'retry'],
      ['id', e!],
    ])
    one.assertStatus(303).assertHeader('location', `?queue=${name}&state=failed&done=retry&count=1`)
    await expect.poll(() => handled).toEqual([5])
    await click({ queue: name }, [
      ['do', 'retry'],
      ['id', d!],
      ['id', c!],
      ['id', 'none'],
    ])
    await expect.poll(() => handled.length).toBe(3)
    const none = await click({ queue: name }, [['do', 'retry']])
    none.assertStatus(303).assertHeader('location', `?queue=${name}&state=failed&done=retry&count=0`)
    expect((await operator.counts()).failed).toBe(2)
    await click({ queue: name }, [['do', 'retry-all']])
    await expect.poll(() => handled.length).toBe(5)
    expect((await get({ queue: name, done: 'retry-all', count: 2 })).text()).toContain(
      '<p role="status">2 messages were sent again.</p>',
    )
    expect((await get({ queue: name, done: 'retry', count: 0 })).text()).toContain('No message was changed')
    const lines = log.filter(({ message }) => message?.includes('sent again'))
    expect(lines.map(({ fields }) => fields)).toMatchObject([
      { queue: name, by: '127.0.0.1', messages: 1 },
      { messages: 2 },
      { messages: 2 },
    ])
  })

  test('remove one or the selected, and empty a queue by state', async () => {
    const { server, click, get } = await open(true)
    const { name, queue, operator } = await failing(server, [1, 2, 3, 4], boom)
    const [a, b] = (await operator.list()).map(({ id }) => id)
    await click({ queue: name }, [
      ['do', 'remove'],
      ['id', a!],
      ['id', b!],
    ])
    expect((await operator.counts()).failed).toBe(2)
    ;(await click({ queue: name }, [['do', 'remove']])).assertStatus(303)
    expect((await operator.counts()).failed).toBe(2)
    await queue.publish(5, { delay: 60_000 })
    ;(await click({ queue: name }, [['do', 'empty']])).assertStatus(303)
    expect(await operator.counts()).toMatchObject({ failed: 2, delayed: 1 })
    await click({ queue: name }, [
      ['do', 'empty'],
      ['states', 'delayed'],
    ])
    expect(await operator.counts()).toMatchObject({ failed: 2, delayed: 0 })
    await click({ queue: name }, [
      ['do', 'empty'],
      ['states', 'waiting'],
      ['states', 'failed'],
    ])
    expect((await operator.counts()).failed).toBe(0)
    expect((await get({ queue: name, done: 'remove', count: 1 })).text()).toContain('1 message was removed.')
  })

  test('pause and resume', async () => {
    const { server, click, get } = await open(true)
    const { name, operator } = await failing(server, [1], boom)
    expect((await get({ queue: name })).text()).toContain('value="pause"')
    ;(await click({ queue: name }, [['do', 'pause']])).assertStatus(303)
    expect(await operator.isPaused()).toBe(true)
    const paused = (await get({ queue: name, done: 'pause' })).text()
    expect(paused).toContain('value="resume"')
    expect(paused).toContain('The queue is paused. Messages in progress are finished.')
    expect((await get()).text()).toContain('<span class="badge">paused</span>')
    ;(await click({ queue: name }, [['do', 'resume']])).assertStatus(303)
    expect(await operator.isPaused()).toBe(false)
    expect((await get({ queue: name, done: 'resume' })).text()).toContain('The queue continues.')
  })

  test('the log has who made them: the option by, or the address of the client', async () => {
    const { server, click, log } = await open({
      middlewares: [staffOnly],
      by: (req) => req.headers['x-user'] as string | undefined,
    })
    const { name } = await failing(server, [1], boom)
    const by = async (headers: object) => {
      log.length = 0
      ;(await click({ queue: name }, [['do', 'pause']], { ...staff, ...headers })).assertStatus(303)
      return log.map(({ fields }) => fields.by)
    }
    expect(await by({ 'x-user': 'ann@example.org' })).toEqual(['ann@example.org'])
    expect(await by({})).toEqual(['127.0.0.1'])
  })

  test('what is not a change of the page is a 400, and GET changes nothing', async () => {
    const { server, click, get } = await open(true)
    const { name, operator } = await failing(server, [1], boom)
    for (const action of ['', 'list', 'toString', '__proto__'])
      (await click({ queue: name }, [['do', action]])).assertStatus(400)
    ;(await get({ queue: name, do: 'empty', states: 'failed' }, fromPage)).assertStatus(200)
    expect((await operator.counts()).failed).toBe(1)
    const bytes = await server.inject.post(`/queues?queue=${name}`, {
      headers: fromPage,
      body: new Uint8Array([0xff, 0xfe]),
    } as object)
    bytes.assertStatus(400)
    ;(await click({ queue: name }, [['id', 'x'.repeat(300_000)]])).assertStatus(413)
  })

  test('a form is read whether the plugin urlencoded is there or not', async () => {
    const { server, click } = await open(true, { plugins: { urlencoded: true } })
    const { name, operator } = await failing(server, [1], boom)
    ;(await click({ queue: name }, [['do', 'pause']])).assertStatus(303)
    expect(await operator.isPaused()).toBe(true)
  })
})

describe('who may', () => {
  test('in production, and wherever NODE_ENV does not say that it is development, an open page fails the boot', async () => {
    const boot = async (env: string, ui: object | boolean) => {
      vi.stubEnv('NODE_ENV', env)
      const server = new Server({
        ...{ router: new RouteCollection(), logger: memoryLogger(), gracefulShutdown: false },
        plugins: { queues: { ui } },
      } as object)
      stop.push(() => server.close().catch(() => {}))
      return server.ready().then(
        () => 'boots',
        (error: Error) => String(error.cause ?? error),
      )
    }
    for (const env of ['production', 'PRODUCTION', 'staging', ''])
      expect(await boot(env, { path: '/admin' })).toBe(
        'QueuePageError: the page of the queues at /admin would be open to everyone. Guard it: background: { queues: { ui: { middlewares: [staffOnly] } } }; NODE_ENV=development needs none',
      )
    for (const env of ['development', 'test']) expect(await boot(env, true)).toBe('boots')
    expect(await boot('production', { middlewares: [staffOnly] })).toBe('boots')
    expect(await boot('production', false)).toBe('boots')
  })

  test('wrong options are errors that name the option', () => {
    const register = (ui: unknown) => () =>
      new Server({ router: new RouteCollection(), plugins: { queues: { ui } } } as object)
    expect(register({ middlewares: undefined })).toThrow(/queues\.ui\.middlewares/)
    expect(register({ middlewares: ['x'] })).toThrow(/queues\.ui\.middlewares/)
    expect(register({ by: 'ann' })).toThrow(/queues\.ui\.by/)
    expect(register({ path: 'queues' })).toThrow(/queues\.ui\.path/)
    expect(register({ pfad: '/x' })).toThrow(/pfad/)
  })

  test('only a request that the middlewares let through sees it or changes anything', async () => {
    const { server, get, click } = await open({ middlewares: [staffOnly] })
    const { name, operator } = await failing(server, [1], boom)
    ;(await get()).assertStatus(401)
    ;(await get({ queue: name })).assertStatus(401)
    ;(await click({ queue: name }, [['do', 'pause']])).assertStatus(401)
    expect(await operator.isPaused()).toBe(false)
    ;(await get({ queue: name }, staff)).assertStatus(200)
    ;(await click({ queue: name }, [['do', 'pause']], staff)).assertStatus(303)
  })

  test.each([
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'none' },
    { 'sec-fetch-site': undefined, origin: 'null' },
    { 'sec-fetch-site': undefined, origin: 'http://evil.test' },
    { 'sec-fetch-site': undefined },
    { 'sec-fetch-site': 'cross-site', origin: 'http://localhost' },
  ])('a click on another page is a 403: %j', async (headers) => {
    const guarded = await open({ middlewares: [staffOnly] })
    const { name, operator } = await failing(guarded.server, [1], boom)
    const sent = Object.fromEntries(Object.entries({ ...fromPage, ...staff, ...headers }).filter(([, value]) => value))
    const request = { headers: sent as Record<string, string>, body: 'do=pause' } as object
    ;(await guarded.server.inject.post(`/queues?queue=${name}`, request)).assertStatus(403)
    expect(await operator.isPaused()).toBe(false)
  })

  test('without middlewares, another name of this machine can read and not change: its owner may be another site', async () => {
    const { server, get, click } = await open(true)
    const { name, operator } = await failing(server, [1], boom)
    const rebound = { host: 'evil.test' }
    const page = await get({ queue: name }, rebound)
    page.assertStatus(200)
    expect(page.text()).not.toContain('<form')
    expect(page.text()).toContain('To change anything, open the page under localhost, or give it middlewares.')
    ;(await click({ queue: name }, [['do', 'pause']], rebound)).assertStatus(403)
    expect(await operator.isPaused()).toBe(false)
    const guarded = await open({ middlewares: [staffOnly] })
    ;(await guarded.click({ queue: name }, [['do', 'pause']], { ...staff, ...rebound })).assertStatus(303)
  })

  test('below a prefix, as a plugin of a list', async () => {
    const server = new Server({ router: new RouteCollection(), logger: memoryLogger(), gracefulShutdown: false })
    stop.push(() => server.close())
    server.register(queues({ ui: { path: '/work' } }), { prefix: '/admin' })
    server.register(helmet())
    ;(await server.inject.get('/admin/work')).assertStatus(200)
  })
})

test('a development server lists the page, and the doctor finds one that would not start in production', async () => {
  const guarded = await open({ middlewares: [staffOnly] })
  expect(pagesOf(guarded.server as never)).toContainEqual({ what: 'queues (guarded)', path: '/queues' })
  const { server } = await open(true)
  expect(pagesOf(server as never)).toContainEqual({ what: 'queues', path: '/queues' })
  const checks = (await queues.plugin.doctor!()) as unknown as DoctorCheck[]
  const check = checks.find(({ code }) => code === 'queues.public-page')!
  const find = (ui: unknown) => check.find({ settings: { ui } } as never)
  expect(check).toMatchObject({ level: 'error', production: true, explains: 'QueuePageError' })
  expect(find(false)).toBeUndefined()
  expect(find({ path: '/queues', middlewares: [staffOnly] })).toBeUndefined()
  expect(find({ path: '/queues', middlewares: [] })).toMatchObject({ problem: expect.stringContaining('at /queues') })
})

describe('engines', () => {
  test.each([
    {
      engine: 'Redis',
      isHere: hasRedis,
      start: startRedis,
      config: (url: string) => ({ bullmq: { connection: url } }),
      make: (name: string) => bullmqQueue<number>(name, { attempts: 1 }),
      later: { delay: 600_000 },
    },
    {
      engine: 'Postgres',
      isHere: hasPostgres,
      start: startPostgres,
      config: (url: string) => ({ pgboss: { connectionString: url, pollInterval: 500 } }),
      make: (name: string) => pgbossQueue<number>(name, { retryLimit: 0 }),
      later: { startAfter: 600 },
    },
  ])('$engine: what the page does reaches the engine', async ({ isHere, start, config, make, later }) => {
    if (!isHere) return
    const store = await start()
    stop.push(() => store.stop())
    const { server, get, click } = await open(true, { config: config(store.url) })
    const queue = make(freshName('real')) as Queue<number, object>
    const { name } = queue
    let isMended = false
    const handled: number[] = []
    const subscriber = await queue.subscribe((payload) => {
      if (!isMended) throw new Error(`cannot print ${payload}`)
      handled.push(payload)
    })
    stop.push(() => subscriber.unsubscribe())
    const own = queue.for(server)
    const failed = async () => (await own.counts()).failed
    for (const payload of [1, 2, 3]) await own.publish(payload)
    await expect.poll(failed).toBe(3)
    isMended = true
    const list = (await get({ queue: name })).text()
    const ids = Array.from(list.matchAll(/name="id" value="([^"]+)"/g), ([, id]) => id!)
    expect(ids).toHaveLength(3)
    const message = (await get({ queue: name, id: ids[0]! })).text()
    expect(message).toContain('<span class="failed">failed</span>')
    expect(message).toContain('<dd>1 of 1</dd>')
    expect(message).toContain('cannot print')
    const did = async (fields: [string, string][]) => {
      const res = await click({ queue: name }, fields)
      res.assertStatus(303)
      return Object.fromEntries(new URLSearchParams(String(res.headers().location)))
    }
    const id = (one: string): [string, string] => ['id', one]
    expect(await did([['do', 'remove'], id(ids[0]!)])).toMatchObject({ count: '1' })
    expect(await did([['do', 'retry'], id(ids[1]!)])).toMatchObject({ count: '1' })
    await expect.poll(() => handled.length).toBe(1)
    expect(await did([['do', 'retry-all']])).toMatchObject({ count: '1' })
    await expect.poll(() => handled.length).toBe(2)
    await did([['do', 'pause']])
    expect((await get()).text()).toMatch(new RegExp(`>${name}</a> <span class="badge">paused`))
    await did([['do', 'resume']])
    await own.publish(4, later as never)
    expect((await get({ queue: name, state: 'delayed' })).text()).toContain('<th scope="col">Due</th>')
    expect(
      await did([
        ['do', 'empty'],
        ['states', 'delayed'],
      ]),
    ).toMatchObject({ count: '1' })
  })

  test('one that is away is reported for its queues, and the others work', async () => {
    const port = await freePort()
    const { server, get, click } = await open(true, {
      config: { bullmq: { connection: `redis://:hunter2@127.0.0.1:${port}`, publishTimeout: 300 } },
    })
    const { name } = await failing(server, [1], boom)
    const away = bullmqQueue(freshName('away'))
    const begun = performance.now()
    const all = await get()
    expect(performance.now() - begun).toBeLessThan(25_000)
    all.assertStatus(200)
    expect(all.text()).toContain(`aria-label="1 failed in ${name}"`)
    const redis = `cannot be reached: Redis at redis://127.0.0.1:${port}`
    // Once for the engine, and not for each of its queues.
    expect(all.text().split(redis)).toHaveLength(2)
    expect(all.text()).toContain(
      `>${away.name}</a></th><td colspan="5" class="failed">The engine does not respond.</td>`,
    )
    const why = `the queue &quot;${away.name}&quot; ${redis}`
    const one = await get({ queue: away.name })
    one.assertStatus(200)
    expect(one.text().split(why)).toHaveLength(2)
    expect(one.text()).not.toContain('<form')
    const message = await get({ queue: away.name, id: '1' })
    expect(message.text()).toContain(why)
    const change = await click({ queue: away.name }, [['do', 'pause']])
    change.assertStatus(503)
    expect(change.text()).toContain(`<p role="alert">${why}`)
    for (const page of [all, one, message, change]) expect(page.text()).not.toContain('hunter2')
  })

  test('what SQS cannot do is said', async () => {
    const client = { send: async () => ({ QueueUrl: 'http://sqs/q', Attributes: {}, Messages: [] }), destroy() {} }
    const { get, click } = await open(true, { config: { sqs: { client } } })
    const { name } = sqsQueue(freshName('sqs'))
    const failed = await get({ queue: name })
    failed.assertStatus(200)
    expect(failed.text()).toContain('SQS lists only failed messages')
    expect(failed.text()).not.toContain('value="pause"')
    const waiting = await get({ queue: name, state: 'waiting' })
    waiting.assertStatus(200)
    expect(waiting.text()).toContain('SQS cannot list waiting messages')
    const pause = await click({ queue: name }, [['do', 'pause']])
    pause.assertStatus(409)
    expect(pause.text()).toContain('SQS cannot pause a queue')
  })

  test('one of your own without operations has counts and nothing else; one that fails is a page as well', async () => {
    const { get, click, log } = await open(true)
    const plain = freshName('plain')
    const engine = { publish: async () => ({ id: '1' }), subscribe: async () => {}, unsubscribe: async () => {} }
    createQueue(plain, { ...engine, counts: async () => ({ waiting: 3, active: 0, delayed: 0, failed: 0 }) })
    expect((await get()).text()).toContain(`aria-label="3 waiting in ${plain}"`)
    expect((await get({ queue: plain })).text()).toContain(
      'has no operations. Give it the member &quot;operations&quot;',
    )
    ;(await click({ queue: plain }, [['do', 'retry-all']])).assertStatus(409)
    const broken = freshName('broken')
    const counts = async () => Promise.reject(new Error(`broken ${nasty} password=hunter2`))
    createQueue(broken, { ...engine, counts })
    const page = await get({ queue: broken })
    page.assertStatus(200)
    expect(page.text()).toContain('The engine has refused this: broken &lt;script&gt;')
    expect(page.text()).not.toContain('hunter2')
    expect(log.filter(({ level }) => level === 'error')).toMatchObject([
      { message: 'the page of the queues: an engine has refused a call' },
    ])
  })

  // The last one: each further page would wait for it as well.
  test('one that never responds does not hold the page up for longer than six seconds', async () => {
    const { server, get } = await open(true)
    const { name } = await failing(server, [1], boom)
    const silent = freshName('silent')
    const never = () => new Promise<never>(() => {})
    const engine = { publish: never, subscribe: never, unsubscribe: never, counts: never }
    createQueue(silent, { ...engine, name: silent })
    const page = await get()
    expect(page.text()).toContain(`aria-label="1 failed in ${name}"`)
    expect(page.text()).toContain(`the queue &quot;${silent}&quot; cannot be reached`)
  })
})
