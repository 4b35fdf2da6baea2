import { RouteCollection, Server, type ServerOptions } from 'framework'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { memoryLogger } from '../../support/kernel.ts'

const servers: Server[] = []
afterEach(async () => {
  vi.unstubAllEnvs()
  for (const server of servers.splice(0)) await server.close()
})

async function warningsOf(env: string, plugins: object): Promise<string[]> {
  vi.stubEnv('NODE_ENV', env)
  const logger = memoryLogger()
  const server = new Server({ plugins, logger, router: new RouteCollection() } as ServerOptions)
  servers.push(server)
  await server.ready()
  return logger.entries.filter(({ level }) => level === 'warn').map(({ message }) => message ?? '')
}

describe.each([
  ['openapi', '/docs', 'the API description at /docs'],
  ['asyncapi', '/asyncapi', 'the message description at /asyncapi.json'],
])('%s that no option guards', (name, path, page) => {
  test('is reported at the boot in production, with its path and the options that decide it', async () => {
    expect(await warningsOf('production', { [name]: true })).toEqual([
      `everyone can read ${page}: its options name no middleware and no policy. Set ${name}.middlewares or ${name}.policy, or ${name}.public: true if everyone may read it`,
    ])
    const [moved] = await warningsOf('production', { [name]: { path: `/internal${path}` } })
    expect(moved).toContain(` /internal${path}`)
  })

  test('is not reported in development, where an option guards it, or where it says that it is public', async () => {
    expect(await warningsOf('development', { [name]: true })).toEqual([])
    expect(await warningsOf('production', { [name]: { public: true } })).toEqual([])
    const middlewares = [(_req: unknown, _res: unknown, next: () => unknown) => next()]
    expect(await warningsOf('production', { [name]: { middlewares } })).toEqual([])
  })
})
