import { definePlugin, memoryQueue, mqtt, RouteCollection, Server } from 'framework'
import { describeMessages } from 'framework/plugins/asyncapi'
import { expect, test } from 'vitest'
import { generateClient } from '../../../cli/sdk/generate.ts'
import { messageProblemsOf } from '../../support/asyncapi.ts'
import { makeProject } from '../../support/cli.ts'
import { memoryLogger } from '../../support/kernel.ts'
import { runTsc } from '../../support/typescript.ts'

const handlers = { message: () => {} }
const names = ['__proto__', 'constructor', "it's */ here", 'a/b~c', '', 'ä 😀', '`$' + '{1}`', '\u2028', '#/x', 'type']

test('names of any kind make a valid document, and a client that compiles and says nothing of its own', () => {
  const server = new Server({ router: new RouteCollection(), plugins: { websocket: true } })
  const messages = Object.fromEntries(
    names.filter((name) => name !== '__proto__').map((name) => [name, { type: 'string' }]),
  )
  for (const [at, name] of names.entries()) {
    const properties = JSON.parse(
      `{ ${JSON.stringify(name)}: { "type": "string", "description": ${JSON.stringify(name)} } }`,
    )
    const schema = { type: 'object', properties, required: [name], additionalProperties: false } as const
    server.ws(
      `/x${at}/${encodeURIComponent(name.replace(/[*/?#()]/g, '')) || 'none'}/:id`,
      {
        query: schema,
        incoming: { ...messages, own: { ...schema, $id: name === '' ? 'empty' : name } },
        outgoing: messages,
        socket: { protocols: ["it's", '`a`', '__proto__'] },
        apidoc: { summary: `*/ ${name}`, description: name, operationId: name, tags: [name] },
      },
      handlers,
    )
  }
  const document = describeMessages(server)
  expect(messageProblemsOf(document)).toEqual([])
  expect(Object.keys(document.channels)).toHaveLength(names.length)

  const project = makeProject({ 'sdk.ts': generateClient({}, { messages: document as never }) })
  try {
    const options = '--noEmit --strict --target es2022 --module nodenext --lib es2023,dom --types'.split(' ')
    expect(runTsc([...options, '', 'sdk.ts'], project.folder).output).toBe('')
  } finally {
    project.remove()
  }
})

test('schemas that cannot be described are open, and said to be so', async () => {
  const server = new Server({ router: new RouteCollection(), plugins: { websocket: true } })
  const silent = { '~standard': { version: 1, vendor: 'none', validate: (value: unknown) => ({ value }) } }
  const lost = { $ref: '#/nowhere' }
  const round: { properties: { self?: object } } = { properties: {} }
  round.properties.self = round
  server.ws('/a', { incoming: { silent, lost, round }, query: silent }, handlers)
  const document = describeMessages(server)
  expect(messageProblemsOf(document)).toEqual([])
  expect(JSON.stringify(document)).toContain('Not described: ')
})

test('braces in the names of queues and topics are no parameters', async () => {
  const plugins = { queues: true, mqtt: { connect: { provider: 'memory' } } } as const
  const server = new Server({ router: new RouteCollection(), plugins })
  const queued = await memoryQueue('described {b}').subscribe(() => {})
  const subscribed = mqtt.subscribe('described/{level2}/+', () => {}, { schema: { type: 'string' } })
  try {
    const document = describeMessages(server)
    expect(messageProblemsOf(document)).toEqual([])
    expect(Object.values(document.channels)).toMatchObject([
      { address: 'described %7Bb%7D', title: 'The queue described {b}' },
      { address: 'described/%7Blevel2%7D/{level3}', 'x-filter': 'described/{level2}/+' },
    ])
  } finally {
    await queued.unsubscribe()
    await subscribed.unsubscribe()
  }
})

test('members of a plugin or a route that AsyncAPI does not have are left out and logged', async () => {
  const logger = memoryLogger()
  const clock = definePlugin({
    name: 'clock',
    asyncapi: {
      channels: () => [{ address: 'clock/{zone}', protocol: 'amqp', parameters: { zoen: { description: 'A zone' } } }],
    },
  })
  const plugins = { websocket: true, asyncapi: true } as const
  await using server = new Server({ router: new RouteCollection(), plugins, logger })
  server.register(clock())
  server.ws('/a', { apidoc: { 'x-a b': 1, 'x-own': 2 } }, handlers)
  await server.ready()
  const document = server.services.get('asyncapi').document()
  expect(messageProblemsOf(document)).toEqual([])
  expect(document.channels.a).toMatchObject({ 'x-own': 2 })
  expect(document.channels.clockZone).toMatchObject({ parameters: { zone: {} } })
  const lines = JSON.stringify(logger.entries)
  expect(lines).toContain('x-a b')
  expect(lines).toContain('zoen')
})
