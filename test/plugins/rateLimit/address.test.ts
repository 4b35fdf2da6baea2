import { RouteCollection, Server } from 'framework'
import { expect, test } from 'vitest'
import { memoryLogger } from '../../support/kernel.ts'

const makeServer = () => {
  const logger = memoryLogger()
  const server = new Server({
    logger,
    router: new RouteCollection(),
    gracefulShutdown: false,
    plugins: { rateLimit: { limit: 1 } },
  })
  server.get('/', (req) => req.ip)
  server.get('/own', { rateLimit: { limit: 2 } }, () => 'own')
  const status = async (path: string, client?: object) =>
    (await server.fetch(new Request(`http://localhost${path}`), client)).status
  return { server, status, warnings: () => logger.entries.filter(({ level }) => level === 'warn') }
}

test('a limit counts the addresses that fetch receives: as { ip }, from the server of Bun, from the connection of Deno', async () => {
  const { status, warnings } = makeServer()
  const clients = [
    { ip: '203.0.113.1' },
    { requestIP: () => ({ address: '203.0.113.2' }) },
    { remoteAddr: { transport: 'tcp', hostname: '203.0.113.3', port: 4 } },
  ]
  for (const client of clients) expect(await status('/', client)).toBe(200)
  for (const client of clients) expect(await status('/', client)).toBe(429)
  expect(warnings()).toEqual([])
})

test('without an address all clients count as one, and each limit reports that once', async () => {
  const { status, warnings } = makeServer()
  const seen = []
  for (const client of [undefined, {}, { requestIP: () => null }, { remoteAddr: { transport: 'unix' } }]) {
    seen.push(await status('/', client), await status('/own', client))
  }
  expect(seen).toEqual([200, 200, 429, 200, 429, 429, 429, 429])
  expect(warnings().map(({ message }) => message)).toEqual([
    expect.stringMatching(
      /^the limit "\*" receives requests without a client address.*server\.fetch\(request, \{ ip \}\)/,
    ),
    expect.stringMatching(/^the limit "GET \/own" receives/),
  ])
})

test('an address that is not a string is refused', async () => {
  const { server } = makeServer()
  for (const ip of [null, 5, {}]) {
    const refused = server.fetch(new Request('http://localhost/'), { ip })
    await expect(refused).rejects.toMatchObject({ code: 'ArgumentsError', message: expect.stringContaining('{ ip }') })
  }
})
