import { RouteCollection, Server } from 'framework'
import { describeMessages } from 'framework/plugins/asyncapi'
import { expect, test } from 'vitest'
import { generateClient } from '../../../cli/sdk/generate.ts'
import { messageProblemsOf } from '../../support/asyncapi.ts'
import { makeProject } from '../../support/cli.ts'
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
      `/x${at}/${encodeURIComponent(name.replace(/[*/?#]/g, '')) || 'none'}/:id`,
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
