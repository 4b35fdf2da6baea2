import { type Handler, RouteCollection, Server } from 'framework'
import { describe, expect, test } from 'vitest'
import { members } from '../../plugins/members.ts'
import { memoryLogger } from '../support/kernel.ts'

const secret = 'a secret of thirty-two characters'
const makeServer = (plugins: object = {}) => {
  const logger = memoryLogger()
  const server = new Server({ plugins: plugins as {}, router: new RouteCollection(), logger, gracefulShutdown: false })
  return { server, log: logger.entries }
}

test('the members are those that the plugins add', async () => {
  const added = { request: {} as Record<string, string>, response: {} as Record<string, string> }
  for (const [key, options] of Object.entries({
    cookie: { secret },
    session: { secret },
    upload: true,
    requestContext: {},
    database: { url: 'sqlite::memory:' },
  })) {
    const { server } = makeServer(key === 'session' ? { cookie: { secret }, session: options } : { [key]: options })
    server.get('/', (req, res) => {
      for (const [target, object] of [
        ['request', req],
        ['response', res],
      ] as const) {
        for (const name of Object.getOwnPropertyNames(Object.getPrototypeOf(object)))
          if (name !== 'constructor') added[target][name] ??= key
      }
    })
    await server.inject.get('/')
  }
  expect(added).toEqual(members)
})

describe('without its plugin', () => {
  test.each([
    ['res.cookie', 'cookie', (_req, res) => res.cookie('a', 'b')],
    ['res.clearCookie', 'cookie', async (_req, res) => res.clearCookie('a')],
    ['req.session', 'session', (req) => Object.assign(req.session, { n: 1 })],
    ['req.file', 'upload', (req) => req.file('a')],
    ['req.context', 'requestContext', (req) => Object.keys(req.context)],
    ['req.database', 'database', (req) => req.database.query('select 1')],
  ] satisfies [string, string, Handler][])('a failure over %s names the plugin %s', async (member, plugin, handler) => {
    const { server, log } = makeServer()
    server.get('/', handler as never)
    ;(await server.inject.get('/')).assertStatus(500)
    expect(log.map(({ message }) => message)).toEqual([
      expect.stringMatching(
        new RegExp(
          `^GET / failed with TypeError: .* \\(${member} is added by the plugin "${plugin}", which is not registered\\)$`,
        ),
      ),
    ])
  })

  test('a member is undefined, can be set, and other failures do not mention it', async () => {
    const { server, log } = makeServer()
    server.get('/', (req) => {
      expect([req.session, req.files, typeof req.file]).toEqual([undefined, undefined, 'undefined'])
      Object.assign(req, { session: { n: 1 } })
      expect(req.session).toEqual({ n: 1 })
      expect(Object.keys(req)).toContain('session')
      throw new Error('on purpose')
    })
    ;(await server.inject.get('/')).assertStatus(500)
    expect(log.map(({ message }) => message)).toEqual(['GET / failed with Error: on purpose'])
  })
})
