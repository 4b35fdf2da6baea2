import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { logger, RouteCollection, Server } from 'framework'
import { type LogOptions, log } from 'framework/plugins/log'
import { describe, expect, test } from 'vitest'
import { memoryLogger, pause, send } from '../support/kernel.ts'

function serving(options: LogOptions = {}) {
  const text: string[] = []
  const router = new RouteCollection()
  const stream = { write: (line: string) => void text.push(line) }
  const server = new Server({ router, plugins: [log({ stream, ...options })] })
  return { server, router, text, entries: () => text.map((line) => JSON.parse(line) as Record<string, unknown>) }
}

describe('a request', () => {
  test('is one line with method, path, status, time and id', async () => {
    const { server, router, entries } = serving()
    router.get('/users/:id', (req) => req.id)
    const res = await send(server, '/users/5?secret=1')
    expect(entries()).toEqual([
      expect.objectContaining({
        level: 30,
        reqId: res.json,
        method: 'GET',
        path: '/users/5',
        status: 200,
        ms: expect.any(Number),
        msg: 'request',
      }),
    ])
  })

  test('that is missed or refused has its line too', async () => {
    const { server, entries } = serving()
    await send(server, '/nope')
    await send(server, '/%zz')
    expect(entries().map((entry) => entry.status)).toEqual([404, 400])
  })

  test('that fails has the error with its id, and its line', async () => {
    const { server, router, entries } = serving()
    router.get('/x', () => {
      throw new Error('boom', { cause: new Error('deep') })
    })
    await send(server, '/x')
    const [error, line] = entries()
    expect(error).toMatchObject({
      level: 50,
      err: { message: expect.stringContaining('boom'), stack: expect.stringContaining('deep') },
    })
    expect(line).toMatchObject({ level: 40, status: 500, reqId: error?.reqId })
  })

  test('of a route with log: false, or with logResponse off, has none', async () => {
    const { server, router, text } = serving()
    router.get('/quiet', { log: false }, () => 'x')
    await send(server, '/quiet')
    await send(server, '/quiet', 'HEAD')
    expect(text).toEqual([])
    const off = serving({ logResponse: false })
    await send(off.server, '/nope')
    expect(off.text).toEqual([])
  })

  test('logs through req.log with its id', async () => {
    const { server, router, entries } = serving({ logResponse: false, level: 'debug' })
    router.get('/x', (req) => {
      req.log.debug({ user: 5 }, 'seen')
      return req.id
    })
    const res = await send(server, '/x')
    expect(entries()).toEqual([expect.objectContaining({ level: 20, reqId: res.json, user: 5, msg: 'seen' })])
  })
})

describe('what is written', () => {
  test('has no credentials', async () => {
    const { server, router, text } = serving({ redact: ['user.email'] })
    router.get('/x', (req) => {
      req.log.info({
        headers: req.headers,
        password: 'hunter2',
        body: { token: 'hunter2', secret: 'hunter2' },
        user: { email: 'hunter2' },
      })
      req.log.info({ 'set-cookie': 'hunter2', headers: { 'set-cookie': ['hunter2'] } })
    })
    await send(server, '/x', 'GET', {
      headers: { authorization: 'Bearer hunter2', cookie: 'sid=hunter2', 'x-ok': 'kept' },
    })
    expect(text.join('')).not.toContain('hunter2')
    expect(text.join('')).toContain('kept')
  })

  test('is one JSON line whatever comes in', async () => {
    const { server, router, text, entries } = serving()
    router.get('/x', (req) => {
      req.log.info({ header: req.headers['x-a'], headers: req.headers }, `said ${req.headers['x-a']}`)
    })
    await send(server, '/x', 'GET', { headers: { 'x-a': 'a\r\n{"level":60}\u001b[31mred' } })
    expect(text.every((line) => line.indexOf('\n') === line.length - 1)).toBe(true)
    expect(text.join('')).not.toContain('\u001b')
    expect(entries()).toHaveLength(2)
  })

  test('is cut where a value is huge', async () => {
    const { server, router, text } = serving()
    router.get('/x', (req) => req.log.info({ headers: req.headers, big: 'x'.repeat(1_000_000) }, 'big'))
    await send(server, '/x', 'GET', { headers: { 'x-a': 'y'.repeat(1_000_000) } })
    expect(text.join('').length).toBeLessThan(20_000)
    expect(text.join('')).toContain('… (1000000 characters)')
  })

  test('follows the level', async () => {
    const { server, router, entries } = serving({ level: 'error' })
    router.get('/x', (req) => {
      req.log.warn('no')
      req.log.error('yes')
    })
    await send(server, '/x')
    expect(entries().map((entry) => entry.msg)).toEqual(['yes'])
  })
})

describe('the sink', () => {
  test('that throws does not stop an answer', async () => {
    const { server, router } = serving({
      stream: {
        write() {
          throw new Error('disk full')
        },
      },
    })
    router.get('/x', (req) => {
      req.log.info('x')
      return 'answered'
    })
    expect((await send(server, '/x')).json).toBe('answered')
  })

  test.each(['closed', 'blocked'])('standard output that is %s does not stop the server', async (kind) => {
    const child = spawn(
      process.execPath,
      ['--import', 'tsx', fileURLToPath(new URL('../fixtures/log-to-stdout.ts', import.meta.url))],
      {
        stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      },
    )
    const exited = new Promise<number | null>((resolve) => child.once('exit', resolve))
    const errors: string[] = []
    child.stderr?.setEncoding('utf8').on('data', (text: string) => errors.push(text))
    const port = await new Promise<number>((resolve) => child.once('message', (message) => resolve(message as number)))
    // Nobody reads what the pipe holds, or there is no pipe any more.
    if (kind === 'closed') child.stdout?.destroy()
    for (let i = 0; i < 300; i++) {
      const res = await fetch(`http://127.0.0.1:${port}/x`, { signal: AbortSignal.timeout(2_000) })
      expect(await res.json()).toBe('answered')
    }
    child.stdout?.resume()
    child.kill('SIGTERM')
    expect(await exited).toBe(0)
    expect(errors.join('')).toBe('')
  })
})

test('a logger of the application takes the place of pino', async () => {
  const own = memoryLogger()
  const server = new Server({ router: new RouteCollection(), logger: own, plugins: { log: true } })
  await send(server, '/nope')
  expect(own.entries).toMatchObject([{ level: 'info', fields: { status: 404 }, message: 'request' }])
})

test('the logger of the process writes JSON', () => {
  expect(typeof logger.info).toBe('function')
  expect(logger.child({ part: 'x' })).toHaveProperty('info')
})

test.each([
  [{ level: 'loud' }, /"log.level" is "loud"; it takes trace, debug/],
  [{ logResponse: 'yes' }, /"log.logResponse"/],
  [{ redact: 'password' }, /"log.redact"/],
  [{ stream: {} }, /"log.stream"/],
  [{ levl: 'info' }, /Did you mean "level"\?/],
])('the options %j are refused', async (options, message) => {
  await expect(
    new Server({ router: new RouteCollection(), plugins: { log: options as never } }).ready(),
  ).rejects.toThrow(message)
  await pause(0)
})
