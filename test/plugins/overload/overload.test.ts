import { once } from 'node:events'
import { connect } from 'node:net'
import { RouteCollection, Server } from 'framework'
import { afterEach, describe, expect, test } from 'vitest'
import { block, memoryLogger } from '../../support/kernel.ts'

const servers: Server[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
})

function makeServer(overload: object | boolean, more: object = {}) {
  const logger = memoryLogger()
  const plugins = { overload, health: true, ...more } as { overload: { maxRequestsInFlight?: number }; health: true }
  const server = new Server({ plugins, router: new RouteCollection(), logger, port: 0, host: '127.0.0.1' })
  servers.push(server)
  return { server, log: logger.entries }
}

/** A handler that waits until it is released. */
function held() {
  let release = () => {}
  const until = new Promise<void>((resolve) => {
    release = resolve
  })
  return { release, handler: () => until.then(() => 'done') }
}

describe('a server with as many requests in flight as it may have', () => {
  test('responds 503 with Retry-After and the name of the failure, until one has ended', async () => {
    const { server, log } = makeServer({ maxRequestsInFlight: 2, retryAfter: 7, sampleInterval: 20 })
    const { release, handler } = held()
    server.get('/slow', handler)
    server.get('/quick', () => 'quick')
    const slow = [server.inject.get('/slow'), server.inject.get('/slow')]
    await expect.poll(() => server.requestsInFlight).toBe(2)
    const res = await server.inject.get('/quick')
    res.assertStatus(503).assertHeader('retry-after', '7').assertBodyDeepEqual({
      code: 'OverloadError',
      message: 'OVERLOAD: the server is overloaded; try again later',
    })
    ;(await server.inject.get('/nowhere')).assertStatus(503)
    expect(server.services.overload).toMatchObject({ isOverloaded: true, refused: 2, share: 1 })
    release()
    for (const one of slow) (await one).assertStatus(200)
    ;(await server.inject.get('/quick')).assertStatus(200)
    await expect.poll(() => server.services.overload.isOverloaded).toBe(false)
    expect(log.map(({ level, message }) => [level, message])).toEqual([
      ['warn', 'overloaded: requests are refused (requestsInFlight)'],
      ['warn', 'no longer overloaded; 2 were refused'],
    ])
  })

  test('continues to respond to the probes of health, and routes that say overload: false', async () => {
    const { server } = makeServer({ maxRequestsInFlight: 1 })
    const { release, handler } = held()
    server.get('/slow', handler)
    server.get('/always', { overload: false }, () => 'yes')
    const slow = server.inject.get('/slow')
    await expect.poll(() => server.requestsInFlight).toBe(1)
    for (const path of ['/health/live', '/health/ready', '/always']) (await server.inject.get(path)).assertStatus(200)
    ;(await server.inject.get('/slow')).assertStatus(503)
    release()
    await slow
  })

  test('responds in the format of failures that the server has', async () => {
    const logger = memoryLogger()
    await using server = new Server({
      plugins: { overload: { maxRequestsInFlight: 1 } },
      errorFormat: 'problem',
      router: new RouteCollection(),
      logger,
    })
    const { release, handler } = held()
    server.get('/', handler)
    const slow = server.inject.get('/')
    await expect.poll(() => server.requestsInFlight).toBe(1)
    const res = await server.inject.get('/')
    res.assertStatus(503).assertHeader('content-type', /^application\/problem\+json/)
    release()
    await slow
  })

  test('refuses to open websockets', async () => {
    const { server } = makeServer({ maxRequestsInFlight: 1 }, { websocket: true })
    const { release, handler } = held()
    server.get('/slow', handler)
    server.ws('/socket', { message: () => {} })
    const { port } = await server.listen()
    const slow = fetch(`http://127.0.0.1:${port}/slow`)
    await expect.poll(() => server.requestsInFlight).toBe(1)
    const socket = connect(port, '127.0.0.1')
    socket.write(
      'GET /socket HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n',
    )
    const [head] = (await once(socket, 'data')) as [Buffer]
    expect(head.toString()).toMatch(/^HTTP\/1\.1 503 /)
    socket.destroy()
    release()
    await (await slow).text()
  })
})

test('limits of event loop and heap are measured', async () => {
  const { server } = makeServer({ maxHeapUsed: 1, sampleInterval: 20 })
  server.get('/', () => 'home')
  await server.ready()
  await expect.poll(() => server.services.overload.share).toBe(0.01)
  ;(await server.inject.get('/')).assertStatus(503)
  expect(server.services.overload.exceeded).toEqual(['heapUsed'])
  expect(server.services.overload.load.eventLoopDelay).toBeGreaterThanOrEqual(0)
})

test('false turns a limit off', async () => {
  const { server } = makeServer({ maxHeapUsed: false, maxEventLoopDelay: false, maxRequestsInFlight: false })
  expect(server.services.overload.limits).toEqual({
    eventLoopDelay: Infinity,
    heapUsed: Infinity,
    requestsInFlight: Infinity,
  })
})

describe('under a flood', () => {
  const clients = 100

  /**
   * Floods a server whose handler keeps the event loop for 1 ms, until so many requests were worked on. Gives for each accepted request how many
   * others were worked on between its way out and its response: its place in the queue, whatever the machine does.
   */
  async function flood(overload: object | false, enough: number): Promise<{ waited: number[]; refused: number }> {
    const { server } = makeServer(overload)
    let worked = 0
    server.get('/', () => {
      block(1)
      return String(++worked)
    })
    const { port } = await server.listen()
    const sockets = Array.from({ length: clients }, () => connect(port, '127.0.0.1').setNoDelay())
    await Promise.all(sockets.map((socket) => once(socket, 'connect')))
    const waited: number[] = []
    let refused = 0
    await Promise.all(
      sockets.map(async (socket) => {
        while (worked < enough) {
          const before = worked
          socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
          const [answer] = (await once(socket, 'data')) as [Buffer]
          if (answer.toString('latin1', 9, 12) === '200') waited.push(worked - before)
          else {
            refused++
            // As a client does that was asked to come again later.
            await new Promise((resolve) => setTimeout(resolve, 20))
          }
        }
        socket.destroy()
      }),
    )
    return { waited, refused }
  }
  /** The later half of the requests: at the start the overload is not detected yet. */
  const median = (waited: number[]) => waited.slice(waited.length / 2).sort((a, b) => a - b)[waited.length >> 2]!

  test('fewer requests are before an accepted one than on a server without it, which delays all', async () => {
    const without = await flood(false, 800)
    expect(without.refused).toBe(0)
    const held = await flood({ maxEventLoopDelay: 10, sampleInterval: 20 }, 800)
    expect(held.refused).toBeGreaterThan(0)
    // About a third on a quiet machine; without a limit, all of them.
    expect(median(held.waited)).toBeLessThan(0.9 * median(without.waited))
  })
})
