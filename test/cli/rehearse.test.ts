import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import type { Balancer } from '../../cli/rehearse/balancer.ts'
import { Findings } from '../../cli/rehearse/findings.ts'
import { readRecording } from '../../cli/rehearse/recording.ts'
import { readRequests, requestsOf } from '../../cli/rehearse/requests.ts'
import { Traffic } from '../../cli/rehearse/traffic.ts'
import { sharedPorts } from '../../cli/start/worker.ts'
import { framework as inOneProcess } from '../support/cli/fresh.ts'
import {
  application,
  args,
  losesNothing,
  makeApplication,
  projects,
  rehearse,
  removeProjects,
} from '../support/cli/rehearsal.ts'
import { framework, makeProject } from '../support/cli.ts'
import { freePort } from '../support/own-server.ts'

afterAll(removeProjects)

// rehearse.long.test.ts has Bun, Deno and the demo.
describe.concurrent('a rehearsal', () => {
  test('names a hook that does not settle, what its hooks take from requests and sockets, and jobs done twice or lost', async () => {
    // After the first request for books, which shows the usual response, they wait for the hook, so that some are in progress when it begins.
    const more = `let isOpen = true
let asked = 0
let end
const ended = new Promise((resolve) => { end = resolve })
const sockets = new Set()
server.register(definePlugin({ name: 'pool', setup: (ctx) => ctx.onDrain(() => { isOpen = false; end() }) })())
server.register(definePlugin({ name: 'rooms', setup: (ctx) => ctx.onDrain(() => { for (const one of sockets) one.terminate() }) })())
server.register(definePlugin({ name: 'stuck', setup: (ctx) => ctx.onClose(() => new Promise(() => {})) })())
server.get('/books', async () => {
  if (asked++ > 0) await ended
  if (!isOpen) throw new Error('the pool has ended')
  return []
})
server.ws('/rooms', { open: (socket) => void sockets.add(socket), close: (socket) => void sockets.delete(socket) })
const orders = memoryQueue('orders')
await orders.subscribe(() => pause(1500))
server.post('/orders', async () => { await orders.publish({}) })
await cron('* * * * * *', { name: 'tick' }).start(() => {})`
    const project = makeApplication(application(more).replace('queues:', 'cron: { crons: [] }, queues:'), {
      // The drain window ends early while no connection is open: the websockets keep it.
      'list.txt': 'POST /orders {"book": 1}\nGET /\nGET /books\nWS /live\nWS /rooms\n',
    })
    const { code, outcome, lost, stderr } = await rehearse(project, ['--requests', 'list.txt', '--rate', '60'])
    const begun = 'after the drain hook of "rooms" and the drain hook of "pool" had begun'
    // It ends while the first hook runs: the other may begin before that is noticed.
    const first = 'after the drain hook of "rooms"( and the drain hook of "pool")? had begun'
    expect([lost.toSorted(), code]).toEqual([
      [
        'cron tick was done twice before any kill',
        'messages of the queue "orders" (memory) were accepted and never done',
        expect.stringMatching(new RegExp(`^response GET /books: status 500, \\d+ ms after SIGTERM, ${begun}$`)),
        'the close hook of "stuck" did not settle',
        expect.stringMatching(
          new RegExp(`^websocket GET /rooms: ended without a close frame, \\d+ ms after SIGTERM, ${first}$`),
        ),
      ],
      1,
    ])
    expect(outcome.closing.ended).toBe('exit code 1')
    expect(stderr).toContain('did not settle within')
  })

  test('loses nothing of an application that closes well', async () => {
    const ended = await rehearse(makeApplication(application()))
    losesNothing(ended)
    // What fails before is not a loss.
    expect(Object.keys(ended.outcome.responses)).toEqual(['200', '500'])
  })
})

describe.concurrent('what a rehearsal cannot do is reported with its remedy', () => {
  const built = (options: string, more = '') => ({
    'dist/index.js': `import { createServer } from 'node:http'
import { Server } from 'framework'
const server = new Server({ ${options} })
${more}
await server.listen()
`,
  })
  const own = `createServer().listen(process.env.OWN_PORT)`
  test.each([
    ['no build', {}, [], '"framework build" creates dist/index.js'],
    ['no health route', built(''), [], 'GET /health/ready gets 404. Turn on the plugin'],
    ['no start', built('', `throw new Error('no database')`), [], 'instance 1 of dist/index.js did not start'],
    [
      'a port of its own',
      built('plugins: { health: true }', own),
      [],
      'instance 2 of dist/index.js did not start: it ended',
    ],
    [
      'a fixed port',
      built('port: Number(process.env.OWN_PORT)'),
      [],
      'listen on the port in PORT, without an option "port"',
    ],
    ['nothing to send', built('plugins: { health: { live: false } }'), [], 'there is no request to send'],
    [
      'a wrong list',
      { ...built(''), list: 'GET /\nFETCH /\n' },
      ['--requests', 'list'],
      'line 2 of list is not a request',
    ],
    [
      'an empty list',
      { ...built(''), list: '# later\n' },
      ['--requests', 'list'],
      '--requests: list has no request such as GET /books',
    ],
    ['no list', built(''), ['--requests', 'list'], '--requests: list does not exist'],
    ['no recording', built(''), ['--traffic', 'a.har'], '--traffic: a.har does not exist'],
    ['an empty name', built(''), ['--traffic', ''], '--traffic:  does not exist'],
  ] as [string, Record<string, string>, string[], string][])('%s', async (_name, files, more, message) => {
    const project = makeProject({ 'src/index.ts': '', ...files })
    projects.push(project)
    // One that starts instances, which write to its standard error, has a process of its own.
    const run = more.length > 0 || !('dist/index.js' in files) ? inOneProcess : framework
    const { code, stderr } = await run(project.folder, [...args, ...more], { OWN_PORT: String(await freePort()) })
    expect([code, stderr]).toEqual([1, expect.stringContaining(message)])
  })

  test.each([
    [['--rate', '0'], '--rate takes a whole number from 1 to 1000, not 0'],
    [['--close-timeout', '1.5'], '--close-timeout takes a whole number from 1 to 3600, not 1.5'],
    [['--requests', 'a', '--traffic', 'b'], '--requests and --traffic exclude each other'],
    [['--health', 'ready'], '--health takes a path such as /health/ready, not "ready"'],
  ])('%j', async (more, message) => {
    const project = makeProject(built(''))
    projects.push(project)
    const { code, stderr } = await inOneProcess(project.folder, [...args, ...more])
    expect([code, stderr]).toEqual([2, `${message}\n`])
  })
})

test('requests are those of the routes without required parameters', () => {
  const route = (path: string, method = 'GET', isSocket = false) => ({ method, path, isSocket })
  const routes = [route('/'), route('/books/:id'), route('/pages/:page?'), route('/files/*'), route('/', 'POST')]
  const requests = requestsOf([...routes, route('/live', 'GET', true), route('/bücher')])
  expect(requests.map(({ method, path, isSocket }) => `${method} ${path}${isSocket ? ' socket' : ''}`)).toEqual([
    'GET /',
    'GET /pages',
    'GET /live socket',
    'GET /b%C3%BCcher',
  ])
})

test('a list has requests with and without a body, and websockets', () => {
  const project = makeProject({ list: '# what members do\n\nPOST /orders?draft=ü {"book": 1}\nWS /live\n' })
  projects.push(project)
  expect(readRequests(join(project.folder, 'list'))).toEqual([
    { method: 'POST', path: '/orders?draft=%C3%BC', body: '{"book": 1}' },
    { method: 'GET', path: '/live', isSocket: true },
  ])
})

test('the port of an instance is not one that the system gives to another process before it listens', async () => {
  const share = sharedPorts()
  // So many at once that some choose the same port: those get another one.
  const ports = await Promise.all(Array.from({ length: 600 }, (_, nth) => share('127.0.0.1', 0, nth)))
  expect(ports.filter((port) => port < 10_000 || port >= 32_768)).toEqual([])
  const [one] = ports
  const taken = createServer().listen(one, '127.0.0.1')
  onTestFinished(() => void taken.close())
  await once(taken, 'listening')
  await expect(share('127.0.0.1', one!, 0)).rejects.toThrow('EADDRINUSE')
})

test.each(['GET', 'DELETE', 'POST'])('the body of %s arrives with its length', async (method) => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const planned = { method, path: '/', body: '{"ü":1}' }
  const traffic = new Traffic({ port, owners: new Map() } as unknown as Balancer, new Findings(), [planned], 100)
  onTestFinished(() => {
    traffic.stop()
    server.close().closeAllConnections()
  })
  const [message] = (await once(server, 'request')) as [IncomingMessage]
  expect([message.method, await text(message)]).toEqual([method, '{"ü":1}'])
})

describe('a recording', () => {
  const header = (name: string, value: string) => ({ name, value })
  const entry = (url: string, more: object = {}) => ({ request: { method: 'GET', url, headers: [], ...more } })
  const read = (har: unknown) => {
    const project = makeProject({ 'a.har': typeof har === 'string' ? har : JSON.stringify(har) })
    projects.push(project)
    const notes: string[] = []
    const requests = readRecording(join(project.folder, 'a.har'), (line) =>
      notes.push(line.replace(project.folder, '')),
    )
    return { requests, notes }
  }
  const post = (postData: object, headers: object[] = []) =>
    read({ log: { entries: [entry('http://a.example/', { method: 'POST', headers, postData })] } }).requests[0]!

  test('has the requests to the host of the first, with their headers, cookies and bodies', () => {
    const headers = [
      ...[header(':path', '/x'), header('Host', 'a.example'), header('Connection', 'x-hop'), header('X-Hop', '1')],
      ...[header('Content-Length', '9'), header('Transfer-Encoding', 'chunked'), header('Sec-WebSocket-Key', 'x')],
      ...[header('Cookie', 'a=1'), header('cookie', 'b=2'), header('Authorization', 'Bearer t')],
    ]
    const { requests, notes } = read({
      log: {
        entries: [
          entry('data:text/plain,x'),
          entry('https://a.example/books?q=%C3%BC#top', { headers }),
          entry('https://cdn.example/a.js'),
          entry('wss://a.example/live'),
        ],
      },
    })
    const kept = { cookie: ['a=1', 'b=2'], authorization: ['Bearer t'] }
    expect(requests).toEqual([
      { method: 'GET', path: '/books?q=%C3%BC', headers: kept, body: undefined, isSocket: false },
      { method: 'GET', path: '/live', headers: {}, body: undefined, isSocket: true },
    ])
    expect(notes).toEqual(['2 of 4 entries of /a.har are left out: their host is not that of the first, a.example'])
  })

  test('has bodies as text, as base64 and as the fields of a form', () => {
    expect(post({ mimeType: 'application/json', text: '{}' })).toMatchObject({
      body: '{}',
      headers: { 'content-type': ['application/json'] },
    })
    const own = [header('Content-Type', 'image/png')]
    expect(post({ mimeType: 'x/y', text: 'AP8=', encoding: 'base64' }, own)).toMatchObject({
      body: Buffer.from([0, 255]),
      headers: { 'content-type': ['image/png'] },
    })
    const form = { mimeType: 'application/x-www-form-urlencoded', params: [header('a b', 'c&d')] }
    expect(post(form).body).toBe('a+b=c%26d')
    expect(post({ text: 'x' }, [header('__proto__', '1')]).headers).toEqual(JSON.parse('{"__proto__":["1"]}'))
  })

  test.each<[unknown, string]>([
    ['{"log": secret', 'is not JSON: line 1, column 9 needs a value'],
    [null, 'is not an HTTP Archive: it has no list log.entries'],
    [{ log: { entries: [] } }, 'has no request over HTTP'],
    [{ log: { entries: [{}] } }, 'entry 1 of'],
    [{ log: { entries: [entry('data:,x')] } }, 'has no request over HTTP'],
    [{ log: { entries: [entry('http://a/'), entry('http://a/', { method: 'GE T' })] } }, 'has no valid method'],
    [{ log: { entries: [entry('ftp://a/')] } }, 'has no request over HTTP'],
    [{ log: { entries: [entry('http://a/', { headers: {} })] } }, 'has no list of headers'],
    [{ log: { entries: [entry('http://a/', { headers: [{}] })] } }, 'entry 1 of'],
    [{ log: { entries: [entry('http://a/', { headers: [header('a b', 'secret')] })] } }, 'a b'],
    [{ log: { entries: [entry('http://a/', { headers: [header('a', 'secret\n')] })] } }, 'Invalid character'],
    [
      { log: { entries: [entry('http://a/', { postData: { mimeType: 'secret\n', text: 'x' } })] } },
      'Invalid character in header content ["content-type"]',
    ],
    [{ log: { entries: [entry('http://a/', { postData: { encoding: 'base64', text: 'se cret' } })] } }, 'not base64'],
    [{ log: { entries: [entry('http://a/', { postData: { mimeType: 'multipart/x', params: [{}] } })] } }, 'of parts'],
  ])('%j is refused without its values', (har, message) => {
    let error: Error | undefined
    try {
      read(har)
    } catch (thrown) {
      error = thrown as Error
    }
    expect(error?.message).toMatch(/^--traffic: .*a\.har /)
    expect(error?.message).toContain(message)
    expect(error?.message).not.toContain('secret')
  })
})
