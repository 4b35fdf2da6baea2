import { type Logger, RouteCollection, Server } from 'framework'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

const failures: unknown[] = []
const note = (error: unknown) => void failures.push(error)
const servers: Server[] = []
let lines: string[] = []
beforeEach(() => {
  lines = []
  vi.spyOn(process.stderr, 'write').mockImplementation((line) => lines.push(String(line)) > 0)
  process.on('uncaughtException', note)
  process.on('unhandledRejection', note)
})
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
  process.off('uncaughtException', note)
  process.off('unhandledRejection', note)
  vi.restoreAllMocks()
  expect(failures.splice(0)).toEqual([])
})

const fails = () => {
  throw new Error('the disk is full')
}
const throwing: Logger = { debug: fails, info: fails, warn: fails, error: fails, child: () => throwing }
const childless: Logger = { ...throwing, child: fails }
const rejects = (() => Promise.reject(new Error('the collector is down'))) as () => void
const rejecting: Logger = { debug: rejects, info: rejects, warn: rejects, error: rejects, child: () => rejecting }

test.each([
  ['throws', throwing],
  ['throws for a child', childless],
  ['rejects', rejecting],
])('a logger that %s changes no response and does not end the process', async (_, logger) => {
  const router = new RouteCollection()
  router.get('/fails', () => {
    throw new Error('broken')
  })
  router.get('/fails-later', async () => {
    await undefined
    throw new Error('broken')
  })
  router.get('/after', async (_req, res) => {
    res.send('sent')
    await undefined
    throw new Error('late')
  })
  router.get('/own', (req) => {
    req.log.info('mine')
    return 'ok'
  })
  router.ws('/socket', { message: () => Promise.reject(new Error('broken')) })
  const server = new Server({ logger, router, plugins: { websocket: true } })
  servers.push(server)
  expect(server.logger).toBe(logger)
  for (const [path, status] of Object.entries({ '/fails': 500, '/fails-later': 500, '/after': 500, '/own': 200 }))
    expect([path, (await server.inject.get(path)).statusCode()]).toEqual([path, status])
  const socket = await server.inject.ws('/socket')
  socket.send('x')
  await socket.assertEnded(1011)
  // The first failure alone is reported: a disk that is full fails with each line.
  const reports = lines.filter((line) => line.includes("the server's logger has failed"))
  expect(reports).toHaveLength(1)
  expect(reports[0]).toMatch(/the disk is full|the collector is down/)
})

test('the other members of a logger are its own', async () => {
  class OwnLogger {
    readonly #level: string
    readonly entries: unknown[][] = []
    constructor(level: string) {
      this.#level = level
    }
    get level() {
      return this.#level
    }
    trace(...entry: unknown[]) {
      this.entries.push([this.#level, ...entry])
    }
    debug() {}
    info() {}
    warn() {}
    error() {}
    child() {
      return this
    }
  }
  const logger = new OwnLogger('trace')
  const router = new RouteCollection()
  router.get('/', (req) => {
    const { log } = req as unknown as { log: OwnLogger }
    log.trace('here')
    return log.level
  })
  const server = new Server({ logger, router })
  servers.push(server)
  expect((await server.inject.get('/')).body()).toBe('trace')
  expect(logger.entries).toEqual([['trace', 'here']])
})
