import { RouteCollection, Server } from 'framework'
import { describe, expect, test } from 'vitest'
import { type CatalogKey, catalog } from '../../plugins/catalog.ts'
import { memoryLogger } from '../support/kernel.ts'

const password = 'hunter2-9f3c'
/** Values in the wrong place. */
const given = {
  'an address': `redis://user:${password}@localhost:1/0`,
  'a key': `-----BEGIN PRIVATE KEY-----\n${password}\n-----END PRIVATE KEY-----`,
  'a list of it': [`redis://user:${password}@localhost:1/0`],
}

/** The whole output of the start of a server with one plugin: its error with all causes, and its log. */
async function saidBy(key: string, options: unknown): Promise<string> {
  const logger = memoryLogger()
  const said: string[] = []
  let server: Server | undefined
  try {
    server = new Server({ logger, router: new RouteCollection(), plugins: { [key]: options } as never })
    await server.ready()
  } catch (error) {
    for (let one: unknown = error; one instanceof Error; one = one.cause) said.push(one.message)
  }
  await server?.close()
  return [...said, ...logger.entries.map(({ message }) => String(message))].join('\n')
}

describe('no message shows a secret that was given in the wrong place', () => {
  test.each(Object.keys(catalog) as CatalogKey[])('%s', async (key) => {
    for (const value of Object.values(given)) expect(await saidBy(key, value)).not.toContain(password)
    const unknown = await saidBy(key, { [`${key}Passwort`]: password })
    expect(unknown).not.toContain(password)
    const names = /The (?:options are|only one is) ([\w, ]+)/.exec(unknown)?.[1]?.split(', ') ?? []
    for (const name of names) {
      for (const [what, value] of Object.entries(given)) {
        expect(await saidBy(key, { [name]: value }), `${what} as ${key}.${name}`).not.toContain(password)
      }
    }
  })

  test('the server itself', () => {
    const names = [
      'host',
      'port',
      'logger',
      'router',
      'adapter',
      'https',
      'limits',
      'background',
      'controllerPatterns',
      'passwort',
    ]
    for (const options of [
      ...Object.values(given),
      ...names.flatMap((name) => Object.values(given).map((one) => ({ [name]: one }))),
    ]) {
      let message = 'nothing'
      try {
        new Server(options as never)
      } catch (error) {
        message = (error as Error).message
      }
      expect(message, JSON.stringify(options)).not.toContain(password)
    }
    expect(() => new Server().register(password as never)).toThrow(/a string is neither a plugin nor a middleware/)
  })
})
