import { afterAll, describe, expect, test } from 'vitest'
import { framework } from '../support/cli/fresh.ts'
import { makeProject, type Project } from '../support/cli.ts'

let project: Project | undefined
afterAll(() => project?.remove())

/** The command in a project with this server, and the content of the file that it writes. */
async function access(server: string, args: readonly string[], files: Readonly<Record<string, string>> = {}) {
  project ??= makeProject()
  project.write({ 'src/server.ts': server, ...files })
  return framework(project.folder, ['access', '--data', ...args], { NODE_ENV: undefined })
}

const application = (mail: string, routes = '') => `import { queue, router, Server } from 'framework'
const Address = { $id: 'Address', type: 'object', properties: { street: { type: 'string', sensitive: true } } } as const
const Person = { type: 'object', properties: { mail: ${mail}, home: Address, work: Address, tags: { type: 'array', items: { type: 'string', sensitive: true } } } } as const
const Token = { type: 'object', properties: { token: { type: 'string', secret: true } } } as const
export const server = new Server({ plugins: { websocket: true } })
router.post('/people', { body: Person, responses: { 201: Person } }, () => 1)
router.get('/plain', { query: { type: 'object', properties: { page: { type: 'integer' } } } }, () => 1)
router.ws('/live', { incoming: { hello: Person } }, { message() {} })
queue('welcome', { schema: Person })
${routes}
`
const marked = "{ type: 'string', sensitive: true }"
const plain = "{ type: 'string' }"

describe('access --data', () => {
  test('lists each marked member of each way in, with its place', async () => {
    const { code, stdout, stderr } = await access(application(marked), ['--json'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const rows = JSON.parse(stdout) as { way: string; facts: string[]; at: string }[]
    const members = ['home.street', 'mail', 'tags[]', 'work.street']
    expect(rows.map(({ way }) => way).sort()).toEqual(
      ['POST /people body', 'POST /people response 201', 'queue welcome message', 'ws /live receive hello']
        .flatMap((place) => members.map((member) => `${place} ${member}`))
        .sort(),
    )
    expect(rows[0]).toMatchObject({ facts: ['sensitive'], at: expect.stringMatching(/^src\/server\.ts:\d+:8$/) })
    const table = await access(application(marked), [])
    expect(table.stdout).toMatch(/^Member +Mark +By, at\n/)
    expect(table.stdout).toMatch(/POST \/people body mail +sensitive +src\/server\.ts:6:8/)
  })

  test('--check fails for a member that has lost its mark and for a secret in a new response, and says when the file is old', async () => {
    const written = await access(application(marked), ['--write'])
    expect({ code: written.code, stderr: written.stderr }).toEqual({
      code: 0,
      stderr: 'access-data.txt: 16 marked members\n',
    })
    expect((await access(application(marked), ['--check'])).code).toBe(0)
    const lost = await access(application(plain), ['--check'])
    expect(lost.code).toBe(1)
    expect(lost.stdout).toMatch(/exposed +POST \/people body mail +sensitive → no mark/)
    const issuing = "router.post('/login', { responses: { 200: Token }, issues: ['token'] }, () => ({ token: 'x' }))"
    const sent = await access(application(marked, issuing), ['--check'])
    expect(sent.code).toBe(1)
    expect(sent.stdout).toMatch(/exposed +POST \/login response 200 token +no mark → secret/)
    const taken = await access(application(marked, "router.post('/login', { body: Token }, () => 1)"), ['--check'])
    expect(taken.code).toBe(3)
    expect(taken.stdout).toMatch(/changed +POST \/login body token/)
    const spaced = await access(
      application(
        marked,
        issuing
          .replace('200: Token', "200: { type: 'object', properties: { 'a token': { type: 'string', secret: true } } }")
          .replace("['token']", "['a token']"),
      ),
      ['--check'],
    )
    expect(spaced.code).toBe(1)
    expect(spaced.stdout).toMatch(/exposed +POST \/login response 200 a token/)
  })

  test('lists fields, arguments and members of input types of GraphQL, and --check sees a mark that has gone and a new secret', async () => {
    const fields = (mail: string, more = '') => `import { Server } from 'framework'
const typeDefs = \`
  type Query { user(mail: String ${mail}, page: Int): User }
  type Mutation { add(user: NewUser!): User }
  type User { name: String, mail: String ${mail} ${more} }
  input NewUser { mail: String ${mail}, password: String @secret }
\`
export const server = new Server({ plugins: { graphql: { schema: { typeDefs } } } })
`
    const { code, stdout, stderr } = await access(fields('@sensitive'), ['--json'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(JSON.parse(stdout)).toMatchObject(
      [
        ['receive Query.user mail', 'sensitive'],
        ['send User mail', 'sensitive'],
        ['receive NewUser mail', 'sensitive'],
        ['receive NewUser password', 'secret'],
      ].map(([member, mark]) => ({ way: `graphql /graphql ${member}`, facts: [mark], by: 'graphql' })),
    )
    expect((await access(fields('@sensitive'), ['--write'])).code).toBe(0)
    const lost = await access(fields(''), ['--check'])
    expect(lost.code).toBe(1)
    expect(lost.stdout).toMatch(/exposed +graphql \/graphql receive Query\.user mail +sensitive → no mark/)
    const sent = await access(fields('@sensitive', ', token: String @secret'), ['--check'])
    expect(sent.code).toBe(1)
    expect(sent.stdout).toMatch(/exposed +graphql \/graphql send User token +no mark → secret/)
    // Without the field, or the plugin, nothing is sent any more.
    expect(
      (await access("import { Server } from 'framework'\nexport const server = new Server()", ['--check'])).code,
    ).toBe(3)
    const wrong = await access(fields('@sensitive', ', more: Nothing'), [])
    expect({ code: wrong.code, stderr: wrong.stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining('the schema of GraphQL cannot be built: Unknown type "Nothing"'),
    })
  })

  test('lists members of the messages of channels and MQTT', async () => {
    const { code, stdout, stderr } = await access(
      application(
        marked,
        `import { channel, mqtt } from 'framework'
router.ws('/rooms', { channels: [channel('rooms/:id', { message: Person, join: () => true, publish: () => true })] }, {})
server.register((await import('framework/plugins/mqtt')).mqtt({ connect: { host: '127.0.0.1', port: 1 }, subscribe: true }))
server.register((await import('framework/plugins/channels')).channels())
mqtt.subscribe('people/+', () => {}, { schema: Person })`,
      ),
      ['--json'],
    )
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const ways = (JSON.parse(stdout) as { way: string }[]).map(({ way }) => way)
    for (const way of ['mqtt people/\\S+ receive', 'ws /rooms receive', 'ws /rooms send'])
      expect(ways, way).toContainEqual(expect.stringMatching(new RegExp(`^${way} .*mail`)))
  })

  test('--check sees a mark that only one of two messages of the same name has lost', async () => {
    const both = (second: string) =>
      application(
        marked,
        `import { memoryQueue, bullmqQueue } from 'framework'; memoryQueue('twice', { schema: Person }); bullmqQueue('twice', { schema: { type: 'object', properties: { mail: ${second} } } } as never)`,
      )
    expect((await access(both(marked), ['--write'])).code).toBe(0)
    const lost = await access(both(plain), ['--check'])
    expect(lost.code).toBe(1)
    expect(lost.stdout).toMatch(/exposed +queue twice message mail #2/)
  })

  test('a mark that is not a boolean is an error that names the member', async () => {
    const { code, stderr } = await access(application("{ type: 'string', sensitive: 'yes' }"), [])
    expect(code).toBe(1)
    expect(stderr).toContain(`"sensitive" of its member "mail" is "yes". Set it to true, or leave it out`)
  })
})
