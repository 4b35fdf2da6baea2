import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { definePlugin, memoryQueue, QueueService, RouteCollection, Server } from 'framework'
import { inspector, log } from 'framework/plugins'
import { testClock } from 'framework/testing'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { Activities } from '../../../plugins/inspector/activities.ts'
import { CapturedBody } from '../../../plugins/inspector/bodies.ts'
import { LivePages } from '../../../plugins/inspector/live.ts'
import { copied, Recorder } from '../../../plugins/inspector/recorder.ts'
import { Redactor } from '../../../plugins/inspector/redact.ts'
import { setHandover } from '../../../plugins/shared/environment/handover.ts'
import { deferred } from '../../../plugins/shared/values/promises.ts'
import { memoryLogger } from '../../support/kernel.ts'
import { eventIn, lookAt, makeServer, type Shown, servers, visit } from './support.ts'

afterEach(async () => {
  vi.unstubAllEnvs()
  for (const server of servers.splice(0)) await server.close().catch(() => {})
})

describe('who may look', () => {
  test.each(['Production', 'PRODUCTION', ' production ', 'prod'])('no one where NODE_ENV is "%s"', async (env) => {
    vi.stubEnv('NODE_ENV', env)
    const { server } = makeServer()
    await expect(server.ready()).rejects.toThrow(`NODE_ENV is "${env}"`)
  })

  test.each([
    'x-forwarded-ssl',
    'x-forwarded-by',
    'x-original-host',
    'x-envoy-peer-metadata',
    'cdn-loop',
    'fly-client-ip',
  ])('no one whom a proxy with %s asks for', async (name) => {
    const { server } = makeServer()
    const look = await lookAt(server)
    expect((await look.send({ url: '/_inspector', headers: { [name]: 'x' } })).status).toBe(403)
  })

  test('no one over HTTP/1.0, which only proxies speak, and no browser', async () => {
    const { server } = makeServer()
    await server.listen()
    const { cookie } = await lookAt(server)
    const ask = (version: string) =>
      new Promise<string>((resolve) => {
        let all = ''
        const lines = [
          `GET /_inspector HTTP/${version}`,
          'Host: 127.0.0.1',
          `Cookie: ${cookie}`,
          'Connection: close',
          '',
          '',
        ]
        const socket = connect(server.port!, '127.0.0.1', () => socket.write(lines.join('\r\n')))
        socket.on('data', (data) => {
          all += data
        })
        socket.on('close', () => resolve(all))
      })
    expect(await ask('1.0')).toMatch(/^HTTP\/1\.1 403 [\s\S]*through a proxy/)
    expect(await ask('1.1')).toMatch(/^HTTP\/1\.1 200 /)
  })

  test.each([
    ['evil.localhost.example', 403],
    ['localhost.', 403],
    ['localhost.evil.example:80', 403],
    ['[::ffff:10.0.0.1]', 403],
    ['0.0.0.0', 403],
    ['127.0.0.1.', 403],
    ['[::1]', 200],
    ['[::ffff:127.0.0.1]:80', 200],
    ['LOCALHOST:1', 200],
  ])('the name that is asked for decides, in the target as well: %s', async (host, status) => {
    const { server } = makeServer()
    const { cookie } = await lookAt(server)
    const port = /:(\d+)$/.exec(host)?.[1] ?? ''
    const headers = { cookie: cookie.replace('inspector=', `inspector${port}=`) }
    expect((await server.inject({ url: '/_inspector', headers: { ...headers, host } })).status).toBe(status)
    const absolute = { url: `http://${host}/_inspector`, headers: { ...headers, host: 'localhost' } }
    expect((await server.inject(absolute)).status).toBe(status)
  })

  test('pages of other origins learn nothing of it, whatever the application lets them read', async () => {
    const { server } = makeServer(true, { cors: { origin: '*' }, session: false, compression: true })
    const look = await lookAt(server)
    const origin = 'http://evil.example'
    for (const url of [await visit(server), '/_inspector/events', '/_inspector/api/overview'])
      expect((await look.send({ url, headers: { origin } })).status).toBe(403)
    expect((await look.send({ url: '/_inspector/api/clear', method: 'OPTIONS', headers: { origin } })).status).toBe(403)
  })

  test('what starts work needs the token, and knows what it may start', async () => {
    const { server } = makeServer(true, { cron: { crons: [] } })
    const look = await lookAt(server)
    const body = JSON.stringify({ panel: 'cron.0', action: 'Run now', id: 'x' })
    const request = { method: 'POST', url: '/_inspector/api/action', body, headers: { origin: 'http://localhost' } }
    expect((await server.inject(request)).status).toBe(401)
    expect(await look.json('action', { panel: 'nothing', action: 'Run now', id: 'x' })).toEqual({
      message: 'there is no such action',
    })
    for (const body of ['', '[', '1', 'null']) {
      const headers = { ...request.headers, cookie: look.cookie }
      expect((await server.inject({ ...request, headers, body })).status).toBe(400)
    }
  })
})

describe('what another process has done', () => {
  const entry = {
    ...{ id: 7, kind: 'cron', title: 'nightly', trace: 'a'.repeat(32), parent: 6, at: 1_000, ms: 5, outcome: 'ok' },
    ...{ note: '', marks: [], marksLeftOut: 0, data: {} },
  }

  test('is listed beside the work of this process, each under an id of its own', async () => {
    const { server } = makeServer(true, { cron: { crons: [] } })
    const look = await lookAt(server)
    const sent = { 41: entry, 42: { ...entry, outcome: 'failed', error: { type: 'Error', message: 'no', stack: '' } } }
    for (const [process, one] of Object.entries(sent))
      expect(await look.json('entry', { process: Number(process), entry: JSON.stringify(one) })).toEqual({})
    const listed = await look.json<Shown[]>('list?kind=cron')
    expect(listed.map(({ id, parent, outcome }) => [id % 2 ** 32, parent! % 2 ** 32, outcome])).toEqual([
      [7, 6, 'failed'],
      [7, 6, 'ok'],
    ])
    expect((await look.json<Shown>(`activity?id=${listed[1]!.id}`)).data).toEqual({ process: 41 })
    expect(await look.json('exceptions')).toMatchObject([{ message: 'no', count: 1 }])
    server.get('/', () => 'later')
    await server.inject({ url: '/' })
    expect((await look.json<Shown[]>('list?kind=request'))[0]!.id).toBeLessThan(2 ** 32)
  })

  test('counts only with the token, whole, and as it was written', async () => {
    const { server } = makeServer(true, { cron: { crons: [] } })
    const look = await lookAt(server)
    const url = '/_inspector/api/entry'
    const body = JSON.stringify({ process: 41, entry: JSON.stringify(entry) })
    expect((await server.inject({ method: 'POST', url, body, headers: { origin: 'http://localhost' } })).status).toBe(
      401,
    )
    for (const one of [
      { process: 41, entry: '{' },
      { process: 41, entry: JSON.stringify({ ...entry, id: 2 ** 40 }) },
      { process: 41, entry: JSON.stringify({ ...entry, kind: 'none' }) },
      { process: 41, entry: JSON.stringify({ ...entry, outcome: 'running' }) },
      { process: 41, entry },
      ...[undefined, -1, 0, 'x', 1.5, 1e308].map((process) => ({ process, entry: JSON.stringify(entry) })),
    ])
      await look.json('entry', one)
    expect(await look.json('list?kind=cron')).toEqual([])
  })
})

test('what failed is passed on without its data where both are too long', async () => {
  const passed: { title: string; data: object; error?: { message: string } }[] = []
  setHandover({ open: () => ({ set: (_id, text) => void passed.push(JSON.parse(text)), delete() {} }) })
  const { server } = makeServer(true, { queues: { run: true } })
  const orders = memoryQueue<{ text: string }>('orders', { attempts: 1 })
  const handle = await orders.subscribe(({ text }) => {
    throw new Error(text.slice(0, 5_000))
  })
  onTestFinished(() => handle.unsubscribe())
  await server.ready()
  await server.services.get('queues').run()
  await orders.publish({ text: 'long '.repeat(10_000) })
  await vi.waitFor(() => expect(passed.map(({ error }) => error?.message.length)).toContain(5_000), 20_000)
  expect(passed.find(({ error }) => error)!.data).toEqual({ cut: true })
  setHandover(undefined as never)
})

describe('secrets', () => {
  test('in paths, texts, addresses, tokens, literals of a query and lines of the log are not shown', async () => {
    const { server } = makeServer()
    const token = 'eyJhbGciOiJIUzI1NiJ9.eyJoaWRkZW4iOiJoaWRkZW4ifQ.hiddenhidden'
    const query = 'mutation { login(name: "ada", password: "hidden") { id } }'
    server.post('/reset/:token/of/:name', (req) => {
      req.log.info({ dsn: 'postgres://ada:hidden@db/shop', query, token }, `by Bearer ${token}`)
      throw new Error('postgres://ada:hidden@db/shop cannot be reached', { cause: new Error(`token=hidden`) })
    })
    const look = await lookAt(server)
    const body = JSON.stringify({ query, variables: [{ apiKey: 'hidden' }], jwt: token, at: 'amqp://:hidden@mq' })
    await server.inject({
      method: 'POST',
      url: `/reset/hidden%2d1/of/ada?next=${encodeURIComponent('/?token=hidden')}&v=${encodeURIComponent('{"password":"hidden"}')}`,
      body,
      headers: {
        'content-type': 'application/json',
        'x-upstream': `https://ada:hidden@a/?token=hidden`,
        'x-by': token,
      },
    })
    const shown = await look.newest('request')
    expect(shown.title).toBe('POST /reset/[redacted]/of/ada?next=/?token=[redacted]&v={"password":[redacted]}')
    expect(shown.error!.message).toBe('postgres://[redacted]@db/shop cannot be reached')
    expect(JSON.parse(shown.http.request.body!.text!)).toMatchObject({
      query: 'mutation { login(name: "ada", password: [redacted]) { id } }',
      variables: [{ apiKey: '[redacted]' }],
      jwt: '[redacted]',
      at: 'amqp://[redacted]@mq',
    })
    const [line] = shown.related.filter(({ kind }) => kind === 'log')
    expect(line).toMatchObject({ title: 'by Bearer [redacted]', data: { dsn: 'postgres://[redacted]@db/shop' } })
    expect(shown.related.map(({ title }) => title)).toContainEqual(
      'POST /reset/[redacted]/of/ada failed with Error: postgres://[redacted]@db/shop cannot be reached',
    )
    expect(JSON.stringify(shown)).not.toContain('hidden')
  })

  test('that the log redacts by any path of pino are redacted here, also where the log stands later in a list', async () => {
    const redact = ['users[*].email', '["x-y"].z', '*.iban', "a['b.c'].d"]
    const plugins = [inspector(), log({ redact, stream: { write() {} } })] as never
    const server = new Server({ plugins, router: new RouteCollection() }) as unknown as ReturnType<
      typeof makeServer
    >['server']
    servers.push(server as unknown as Server)
    server.post('/', (req) => req.body)
    const look = await lookAt(server)
    const body = {
      users: [{ email: 'e' }, { email: 'e', n: 1 }],
      'x-y': { z: 'e' },
      o: { iban: 'e' },
      a: { 'b.c': { d: 'e' } },
    }
    await server.inject.post('/', { body })
    const hidden = '[redacted]'
    expect(JSON.parse((await look.newest('request')).http.request.body!.text!)).toEqual({
      users: [{ email: hidden }, { email: hidden, n: 1 }],
      'x-y': { z: hidden },
      o: { iban: hidden },
      a: { 'b.c': { d: hidden } },
    })
  })

  test.each([
    'password_confirmation',
    'passwordConfirmation',
    'newPassword2',
    'password-repeat',
    'user[password_again]',
  ])('that are typed twice are redacted twice: %s', (name) => {
    const redactor = new Redactor([], [])
    const body = (text: string, type: string) => redactor.body(Buffer.from(text), type)
    expect(body(`${name}=hidden&a=b`, 'application/x-www-form-urlencoded')).toBe(`${name}=[redacted]&a=b`)
    expect(body(JSON.stringify({ [name]: 'hidden' }), 'application/json')).not.toContain('hidden')
    expect(body(`x ${name.replace(/^.*\[|\]/g, '')}: hidden`, 'text/plain')).not.toContain('hidden')
  })

  test('are found by the paths and names of the application in text and in JSON that was cut', () => {
    const redactor = new Redactor(['iban'], ['user.email', '*.pin', 'card.*'])
    const cut = '{"user":{"email":"hidden","name":"ada","card":{"no":"hidden"}},"iban":"hidden","pin":12'
    expect(redactor.body(Buffer.from(cut), 'application/json')).toBe(
      '{"user":{"email":[redacted],"name":"ada","card":[redacted]',
    )
    expect(redactor.body(Buffer.from('{"n":1,"iban":"hidden","pin":12,"x'), 'application/json')).toBe(
      '{"n":1,"iban":[redacted],"pin":[redacted]',
    )
    expect(redactor.text('for ada, iban: hidden\nat noon')).toBe('for ada, iban: [redacted]\nat noon')
  })

  test('in lists and maps of a form, in JSON with the type of one, and in lists of headers are found', () => {
    const redactor = new Redactor(['iban'], [])
    const form = (text: string) => redactor.body(Buffer.from(text), 'application/x-www-form-urlencoded')
    expect(form('user[password][]=hidden&user[iban][0]=hidden&password[]=hidden&tags[]=a')).toBe(
      'user[password][]=[redacted]&user[iban][0]=[redacted]&password[]=[redacted]&tags[]=a',
    )
    expect(JSON.parse(form('{"password":"a&hidden=b"}')!)).toEqual({ password: '[redacted]' })
    expect(
      redactor.value({ rawHeaders: ['Host', 'x', 'Cookie', 'hidden'], all: [{ name: 'token', value: 'hidden' }] }),
    ).toEqual({ rawHeaders: ['Host', 'x', 'Cookie', '[redacted]'], all: [{ name: 'token', value: '[redacted]' }] })
    expect(redactor.header('x-all', ['token=hidden', 'ada'])).toEqual(['token=[redacted]', 'ada'])
  })

  test('in a charset in which no name would be found are bytes', async () => {
    const bytes = Buffer.from('{"password":"hidden"}', 'utf16le')
    expect(new Redactor([], []).body(bytes, 'application/json; charset=utf-16')).toBeUndefined()
  })
})

test('a request that is refused before it comes here is not taken for one of the page', async () => {
  const strict = definePlugin({
    name: 'strict',
    setup: (ctx) =>
      ctx.rewrite((raw) => {
        if (raw.header('x-bad') !== undefined) throw new Error('bad')
        return undefined
      }),
  })
  const server = new Server({
    plugins: [strict(), inspector()],
    router: new RouteCollection(),
    logger: memoryLogger(),
  }) as unknown as Server<{}>
  servers.push(server as unknown as Server)
  const look = await lookAt(server)
  await look.send({ url: '/_inspector/api/overview' })
  await server.inject({ url: '/refused', headers: { 'x-bad': '1' } })
  expect((await look.list('request')).map(({ title }) => title)).toEqual(['GET /refused'])
})

test('the token is in nothing that is kept: not in the line that says it, nor in what asked with it elsewhere', async () => {
  const { server } = makeServer()
  server.get('/', (req) => req.log.info(`asked by ${req.headers.referer}`))
  await server.listen()
  const look = await lookAt(server)
  const token = look.cookie.split('=')[1]!
  await server.inject({ url: `/?token=${token}`, headers: { referer: `http://localhost/_inspector?token=${token}` } })
  await server.inject({ url: `/_INSPECTOR?token=${token}` })
  const lists = await Promise.all(['request', 'log'].map((kind) => look.list(kind)))
  expect(lists.map(({ length }) => length)).toEqual([2, expect.any(Number)])
  const details = await Promise.all(lists.flat().map(({ id }) => look.details(id)))
  expect(JSON.stringify(details)).not.toContain(token)
})

test('the HTML of an email is shown, and no other', async () => {
  const { server } = makeServer()
  server.get('/', (req) => req.log.info({ html: '<b>x</b>' }, 'a page'))
  const look = await lookAt(server)
  await server.inject.get('/')
  const [line] = await look.list('log')
  expect((await look.send({ url: `/_inspector/api/email?id=${line!.id}` })).status).toBe(404)
})

test('over TLS the cookie is of TLS alone', async () => {
  const { server } = makeServer()
  const res = await server.inject({ url: `https://localhost${await visit(server)}` })
  expect(String(res.headers['set-cookie'])).toMatch(/; Secure$/)
})

test('a body limit that leaves room for nothing else is refused', () => {
  expect(() => makeServer({ bodyLimit: '5mb' })).toThrow(/inspector\.bodyLimit.*at most 4194304 bytes/)
})

describe('memory', () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const heap = () => {
    collect()
    return process.memoryUsage().heapUsed
  }

  test('of a body that comes byte by byte is that of its bytes', () => {
    const before = heap()
    let counted = 0
    const kept = new CapturedBody(65_536, (bytes) => {
      counted += bytes
    })
    for (let i = 0; i < 100_000; i++) kept.add(Buffer.from([i % 256]))
    expect([counted, kept.size, kept.isCut]).toEqual([65_536, 100_000, true])
    expect(heap() - before).toBeLessThan(1_000_000)
    expect(Buffer.from(kept.bytes()).subarray(0, 300)).toEqual(
      Buffer.from(Array.from({ length: 300 }, (_, i) => i % 256)),
    )
  })

  test('of failures and marks is counted', () => {
    const recorder = new Recorder({ path: '/', keep: 5, bodyLimit: 1, redact: [] }, new Redactor([], []), {
      listing: { routes: [] },
    } as never)
    const { activities } = recorder
    const failed = activities.begin({ kind: 'request', title: 'x' }, undefined)
    recorder.failed(
      failed,
      new AggregateError(
        Array.from({ length: 20 }, () => new Error('x'.repeat(8_000))),
        'many',
      ),
    )
    expect(activities.bytes).toBeGreaterThan(160_000)
    const before = activities.bytes
    for (let i = 0; i < 200; i++) recorder.mark(failed, 'step')
    expect(activities.bytes - before).toBeGreaterThan(10_000)
  })

  test('of the beginning of a long text is not that of the whole', () => {
    const before = heap()
    const kept = Array.from({ length: 20 }, (_, i) => copied({ a: `${i}${'x'.repeat(5_000_000)}`.slice(0, 100) }).data)
    expect(heap() - before).toBeLessThan(20_000_000)
    expect(kept).toHaveLength(20)
  })

  test('of a page that does not read has no bodies', async () => {
    const pages = new LivePages()
    const activities = new Activities(2, 1e9)
    activities.onChange = (one) => pages.push(one)
    const page = pages.open().body.getReader()
    await page.read()
    const dropped = new WeakRef(activities.begin({ kind: 'log', title: 'first', data: { body: 'x' } }, undefined))
    for (let i = 0; i < 5; i++) activities.begin({ kind: 'log', title: 'later' }, undefined)
    await pause(1)
    collect()
    expect(dropped.deref()).toBeUndefined()
    const { data } = eventIn(await page.read())
    expect(data).toHaveLength(6)
    expect(Object.keys(data[0]!)).not.toContain('data')
  })
})

describe('replay', () => {
  test('is taken for the host and the scheme that a proxy has said of the first one', async () => {
    const seen: string[] = []
    const { server } = makeServer(true, { trustProxy: { trustedProxies: ['10.0.0.1'] } })
    server.get('/', (req) => void seen.push(`${req.url} ${req.ip}`))
    const look = await lookAt(server)
    const forwarded = { 'x-forwarded-for': '1.2.3.4', 'x-forwarded-host': 'shop.example', 'x-forwarded-proto': 'https' }
    await server.inject({ url: '/?a=1', ip: '10.0.0.1', headers: { ...forwarded, host: 'inner' } })
    await look.json('replay', { id: (await look.newest('request')).id })
    expect(seen).toEqual(['https://shop.example/?a=1 1.2.3.4', 'https://shop.example/?a=1 1.2.3.4'])
  })

  test('of a replay, of a form with files and of one in which others are asked for is each once', async () => {
    let count = 0
    const { server } = makeServer(true, { upload: true })
    server.get('/inner', () => 'x')
    server.post('/', async (req) => {
      count++
      await server.inject.get('/inner')
      return req.files.length
    })
    const look = await lookAt(server)
    const body = '--b\r\ncontent-disposition: form-data; name="a"; filename="a.txt"\r\n\r\nhello\r\n--b--\r\n'
    await server.inject({
      method: 'POST',
      url: '/',
      body,
      headers: { 'content-type': 'multipart/form-data; boundary=b' },
    })
    const [, first] = await look.list('request')
    const { id } = await look.json<{ id: number }>('replay', { id: first!.id })
    const { id: again } = await look.json<{ id: number }>('replay', { id })
    expect(count).toBe(3)
    const { data, http } = await look.details(again)
    expect(data.repeats).toBe(id)
    expect(http.response.body!.text).toBe('1')
    expect(http.request.body).toEqual({ size: Buffer.byteLength(body), why: 'multipart/form-data; boundary=b' })
  })
})

test('a failure and the steps of a request belong to the inspector of its server alone', async () => {
  const { server } = makeServer()
  // Boots first, and so hears of everything first.
  const others = await lookAt(makeServer().server as never)
  server.get('/broken', () => {
    throw new Error('broken')
  })
  const own = await lookAt(server as never)
  await server.inject.get('/broken')
  expect(await others.json('exceptions')).toEqual([])
  expect(await own.json('exceptions')).toMatchObject([{ message: 'broken', count: 1 }])
  const { related } = await own.newest('request')
  const marks = related.flatMap((one) => one.marks).map(({ name }) => name)
  expect(marks).toEqual([...new Set(marks)])
})

test('a client that has left before its response is ready has received none', async () => {
  const { server } = makeServer()
  const [begun, gone] = [deferred(), deferred()]
  server.get('/slow', async () => {
    begun.resolve()
    await gone.promise
    return 'late'
  })
  const { list, newest } = await lookAt(server as never)
  await server.listen()
  const socket = connect(server.port, '127.0.0.1', () => socket.write('GET /slow HTTP/1.1\r\nhost: a\r\n\r\n'))
  await begun.promise
  socket.destroy()
  const shown = async () => (await list('request'))[0]!
  await expect.poll(shown).toMatchObject({ outcome: 'failed', note: 'client gone' })
  gone.resolve()
  await new Promise(setImmediate)
  expect(await shown()).toMatchObject({ outcome: 'failed', note: 'client gone' })
  expect((await newest('request')).http.response).toBeUndefined()
})

test('pages that are open end with the server, and are not cut off by a timeout', async () => {
  using clock = testClock()
  const { server } = makeServer(true, { timeout: { ms: 50 } })
  await server.listen()
  const { cookie } = await lookAt(server)
  const port = server.port!
  const headers = { cookie: cookie.replace('inspector=', `inspector${port}=`) }
  const events = await fetch(`http://127.0.0.1:${port}/_inspector/events`, { headers })
  const reader = events.body!.getReader()
  expect(new TextDecoder().decode((await reader.read()).value)).toContain('hello')
  await clock.advance(120)
  await fetch(`http://127.0.0.1:${port}/nowhere`)
  expect(new TextDecoder().decode((await reader.read()).value)).toContain('GET /nowhere')
  await server.close()
  expect((await reader.read()).done).toBe(true)
})

test('a message that is sent again by its page belongs to no request of the page', async () => {
  const letters = memoryQueue<number>('inspector-attacked')
  const handle = await letters.subscribe(() => {
    throw new Error('no')
  })
  const { server } = makeServer(true, { queues: { run: true } })
  try {
    await server.listen()
    const look = await lookAt(server)
    await letters.publish(1)
    await expect.poll(() => look.list('attempt')).toHaveLength(1)
    const { panels } = await look.json<{ panels: { key: string; title: string }[] }>('overview')
    const { key } = panels.find(({ title }) => title === 'Dead letters')!
    const letterRows = async () => (await look.json<{ rows: { id: string }[] }>(`panel?key=${key}`)).rows
    await expect.poll(letterRows).toHaveLength(1)
    const rows = await letterRows()
    await look.json('action', { panel: key, action: 'Send again', id: rows[0]!.id })
    await expect.poll(() => look.list('attempt')).toHaveLength(2)
    const [publish, ...others] = await look.list('publish')
    expect([publish!.parent, others]).toEqual([undefined, []])
    expect(new Set((await look.list('attempt')).map(({ parent }) => parent)).size).toBe(1)
  } finally {
    await handle.unsubscribe()
    await QueueService.stop()
  }
})

test.each<[why: string, rows: unknown]>([
  ['rows() did not return a list of rows', () => undefined],
  ['returned a row that is neither { id, cells } nor a list of cells', () => [{ id: 1 }]],
  ['no redis://[redacted]@cache', () => Promise.reject(new Error('no redis://:hidden@cache'))],
])('a panel that is wrong says so, without secrets: %s', async (why, rows) => {
  const wrong = definePlugin({
    name: 'wrong',
    inspector: () => [{ title: 'Wrong', columns: ['A'], rows: rows as never }],
  })
  const { server } = makeServer(true, { wrong: wrong() })
  const look = await lookAt(server)
  const { panels } = await look.json<{ panels: { key: string; title: string }[] }>('overview')
  const { key } = panels.find(({ title }) => title === 'Wrong')!
  expect((await look.json<{ message: string }>(`panel?key=${key}`)).message).toContain(why)
})

test('a panel of a plugin with any name is shown', async () => {
  const odd = definePlugin({
    name: '@acme/slow log',
    inspector: () => [{ title: 'Odd', columns: ['A'], rows: () => [] }],
  })
  const { server } = makeServer(true, { odd: odd() })
  const look = await lookAt(server)
  const { panels } = await look.json<{ panels: { key: string; title: string }[] }>('overview')
  const { key } = panels.find(({ title }) => title === 'Odd')!
  expect(await look.json(`panel?key=${encodeURIComponent(key)}`)).toMatchObject({ title: 'Odd' })
})
