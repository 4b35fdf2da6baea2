import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { framework } from '../support/cli/fresh.ts'
import { type Runner, startRunner } from '../support/cli/many.ts'
import { type Ended, framework as frameworkAlone, makeProject, type Project } from '../support/cli.ts'

const notBooted = 'Not booted: routes that plugins register in their setup are not included (use --boot).\n'

let project: Project
let runner: Runner
beforeAll(() => {
  runner = startRunner()
  project = makeProject({
    'src/server.js': `import { definePlugin, PolicyManager, router, Server } from 'framework'
console.log('imported')
const policies = new PolicyManager({ books: { write: () => true } })
const manager = { manager: policies, scope: 'books', handler: 'write' }
function count(req, res, next) { return next() }
router.get('/books', { cache: { ttl: 60 }, query: { type: 'object' } }, function listBooks() {})
router.get('/books/:id', () => {})
router.group('/admin', [count], (r) => {
  r.post('/books', { policy: manager, body: { type: 'object' }, middlewares: [count] }, function addBook() {})
})
const audit = definePlugin({
  name: 'audit',
  version: '1.2.0',
  provide: () => ({ audit: [] }),
  setup(ctx, options) {
    console.log('booted')
    if (process.env.NO_AUDIT) throw new Error('connect ECONNREFUSED 127.0.0.1:5432')
    ctx.get('/audit', function entries() {})
    ctx.fallback('/old', () => {})
    ctx.onClose(() => {
      console.log('closed')
      if (process.env.NO_CLOSE) throw new Error('not flushed')
    })
  },
})
export const server = new Server({
  controllerPatterns: ['src/controllers/*.js'],
  plugins: { cache: false, rateLimit: false, audit: audit({ url: 'postgres://user:secret@host/db', keep: 5 }) },
})
`,
    'src/controllers/authors.js': `import { router } from 'framework'
router.delete('/authors/:id', { rateLimit: { limit: 5 }, timeout: false }, function removeAuthor() {})
`,
    'logs.js': `import { definePlugin, logger, Server } from 'framework'
logger.info('while it is imported')
const talks = definePlugin({
  name: 'talks',
  setup(ctx) {
    ctx.log.info('while it boots')
    ctx.onClose(() => ctx.log.info('while it closes'))
  },
})
export const server = new Server({ plugins: { log: true, talks: talks() } })
`,
    '.env': 'PATH_OF_FILE=/of-the-file\nPATH_OF_PROCESS=/of-the-file\n',
    'environment.js': `import { router, Server } from 'framework'
for (const name of ['PATH_OF_FILE', 'PATH_OF_PROCESS']) router.get(process.env[name], () => {})
export const server = new Server()
`,
    'of-plugins.js': `import { definePlugin, Server } from 'framework'
const books = definePlugin({ name: 'books', setup(ctx) { ctx.get('/books', function listBooks() {}) } })
export const server = new Server([books()])
`,
    'empty.js': "import { Server } from 'framework'\nexport const server = new Server()\n",
  })
})
afterAll(() => {
  runner.close()
  project.remove()
})

const run = (...args: string[]): Promise<Ended> => framework(project.folder, args)
const runWith = (env: NodeJS.ProcessEnv, ...args: string[]): Promise<Ended> => framework(project.folder, args, env)

describe('routes', () => {
  const declared = [
    'GET     /books        listBooks        validates query · cached',
    'GET     /books/:id    src/server.js:7',
    'POST    /admin/books  addBook          policy books.write · validates body · uses count, count',
    'DELETE  /authors/:id  removeAuthor     rateLimit',
  ]

  test('lists the declared routes, those of controllers too, and reports omitted ones', async () => {
    const { code, stdout, stderr } = await run('routes')
    expect([code, stderr]).toEqual([0, `imported\n${notBooted}`])
    expect(stdout).toBe(`${declared.join('\n')}\n`)
  })

  test('--boot has those of plugins, and closes the server', async () => {
    const { code, stdout, stderr } = await run('routes', '--boot')
    expect([code, stderr]).toEqual([0, 'imported\nbooted\nclosed\n'])
    expect(stdout).toMatch(/^GET {5}\/audit {7,}entries {10}by audit\n/)
  })

  test('--method and --path choose', async () => {
    const { stdout } = await run('routes', '--method', 'get', '--path', '/books/')
    expect(stdout).toBe('GET  /books/:id  src/server.js:7\n')
    const none = await run('routes', '--method', 'PUT')
    expect([none.code, none.stdout]).toEqual([0, ''])
    expect(none.stderr).toContain('none of the 4 routes of src/server.js matches\n')
  })

  test('--json is for programs', async () => {
    const { stdout } = await run('routes', '--json', '--path', '/admin')
    expect(JSON.parse(stdout)).toEqual([
      {
        method: 'POST',
        path: '/admin/books',
        owner: 'application',
        handler: 'addBook',
        policies: ['books.write'],
        middlewares: ['count', 'count'],
        validates: ['body'],
        responses: [],
        cached: false,
        options: [],
        at: 'src/server.js:9:5',
      },
    ])
  })

  test('an application of plugins is booted: it has no other routes', async () => {
    const { code, stdout, stderr } = await run('routes', '--entry', 'of-plugins.js')
    expect([code, stdout, stderr]).toEqual([0, 'GET  /books  listBooks  by books\n', ''])
  })

  test('an application without routes points to the documentation', async () => {
    const { code, stdout, stderr } = await run('routes', '--entry', 'empty.js')
    expect([code, stdout]).toEqual([0, ''])
    expect(stderr).toContain('empty.js has no routes: do its modules import those that register them?\n')
  })
})

describe('plugins', () => {
  test('draws the tree with times, services and the names of options', async () => {
    const { code, stdout, stderr } = await run('plugins')
    expect([code, stderr]).toEqual([0, 'imported\nbooted\nclosed\n'])
    expect(stdout).toMatch(/^root {12,}boot \d+\.\d ms$/m)
    expect(stdout).toMatch(
      /^└─ audit 1\.2\.0 +(boot \d+\.\d ms)? +provides audit · onClose · GET \/audit, fallback \/old\/\* · options url, keep$/m,
    )
    expect(stdout).not.toContain('secret')
  })

  test('--close is timed too; --json is for programs, and has no values of options either', async () => {
    const { stdout } = await run('plugins', '--close', '--json')
    const tree = JSON.parse(stdout) as { children: { name: string; options: string[]; ms: { close: number } }[] }
    expect(tree.children.at(-1)).toMatchObject({ name: 'audit', version: '1.2.0', options: ['url', 'keep'] })
    expect(tree.children.at(-1)?.ms.close).toBeGreaterThan(0)
    expect(stdout).not.toContain('secret')
  })

  test('the log of the application is not a part of the result', async () => {
    // The logger writes to the descriptor of the process.
    const { stdout, stderr } = await frameworkAlone(project.folder, ['plugins', '--json', '--entry', 'logs.js'])
    expect(JSON.parse(stdout)).toMatchObject({ name: 'root' })
    for (const when of ['is imported', 'boots', 'closes']) expect(stderr).toContain(`"msg":"while it ${when}"`)
  })

  test('--no-boot draws the declared plugins', async () => {
    const { code, stdout, stderr } = await run('plugins', '--no-boot')
    expect([code, stderr]).toEqual([
      0,
      'imported\nNot booted: registrations that plugins make in their setup are not included.\n',
    ])
    expect(stdout).toMatch(/^└─ audit 1\.2\.0 {2}provides audit · options url, keep$/m)
    expect(stdout).not.toMatch(/boot|ms/)
  })

  test.each([
    [['plugins']],
    [['routes', '--boot']],
    [['explain', 'GET', '/books']],
  ])('%j: a boot that fails names the plugin', async (argv) => {
    expect(await runWith({ NO_AUDIT: '1' }, ...argv)).toEqual({
      code: 1,
      stdout: '',
      stderr:
        'imported\nbooted\nthe plugin "audit" failed in setup: connect ECONNREFUSED 127.0.0.1:5432\nExplained by: npm run framework -- docs PluginSetupError\n',
    })
  })

  test('a close that fails is reported, and is not a success', async () => {
    const failed = 'the close hook of the plugin "audit" failed: not flushed\n'
    const after = await runWith({ NO_CLOSE: '1' }, 'plugins')
    expect([after.code, after.stderr]).toEqual([1, `imported\nbooted\nclosed\nclosing the server failed: ${failed}`])
    expect(after.stdout).toContain('audit')
  })
})

describe('explain', () => {
  test('lists the steps of a request, with whose they are', async () => {
    const { code, stdout, stderr } = await run('explain', 'post', '/admin/books?draft=1')
    expect([code, stderr]).toEqual([0, 'imported\nbooted\nclosed\n'])
    expect(stdout.replace(/ {2,}/g, '  ')).toBe(`POST /admin/books
  scope  json  by json
  group  count
  guard  policy(books.write)  by policy
  route  count
  input  validation  by validation
  handler  addBook
`)
  })

  test('with the parameters, as JSON too', async () => {
    expect((await run('explain', 'HEAD', '/books/a%20b')).stdout).toMatch(/^GET \/books\/:id\n {2}id = "a b"\n/)
    const { stdout } = await run('explain', 'GET', '/books/5', '--json')
    expect(JSON.parse(stdout)).toMatchObject({
      route: 'GET /books/:id',
      params: { id: '5' },
      steps: [{ slot: 'scope', name: 'json' }, { slot: 'handler' }],
      allow: ['GET'],
    })
  })

  test.each([
    [['PUT', '/books/5'], 'PUT /books/5 responds with 405: the path has GET'],
    [['GET', '/boks/5'], 'GET /boks/5 responds with 404: no route has this path; did you mean GET /books/:id?'],
    [['GET', '/zzzzzzzzzzzz'], 'GET /zzzzzzzzzzzz responds with 404: no route has this path'],
    [['GET', '/old/page'], 'GET /old/page has no route: the plugin audit may respond; otherwise the response is a 404'],
    [['GET', '/books/%zz'], 'GET /books/%zz responds with 400: the path is not valid in a URL'],
  ])('%j is exit code 1', async (argv, message) => {
    const { code, stdout, stderr } = await run('explain', ...argv)
    expect([code, stderr]).toEqual([1, `imported\nbooted\nclosed\n${message}\n`])
    // The fallback shows where there is one.
    expect(stdout).toMatch(/^ {2}scope +json +by json\n(?: {2}fallback {2}\/old\/\* {2}by audit\n)?$/)
  })
})

describe('invalid arguments are exit code 2, and nothing is imported', () => {
  test.each([
    [
      ['routes', '--method', 'FETCH'],
      'routes: --method takes GET, HEAD, POST, PUT, PATCH, DELETE, QUERY, OPTIONS or WS, not "FETCH"; did you mean PATCH?',
    ],
    [['routes', '/books'], 'routes: "/books" is one argument too many'],
    [['routes', '--methd', 'GET'], 'routes: there is no --methd; did you mean --method?'],
    [['explain', 'GET'], 'explain: <path> is missing'],
    [['explain', 'GET', 'books'], 'explain: <path> takes a path such as /books/5, not "books"'],
    [
      ['explain', '__proto__', '/'],
      'explain: <method> takes GET, HEAD, POST, PUT, PATCH, DELETE, QUERY or OPTIONS, not "__proto__"',
    ],
    [['plugins', '--timeout', '0'], '--timeout takes seconds, more than 0 and at most a day, not 0'],
    [['cron-start', '--entry'], 'cron-start: --entry needs a value'],
    [['queue-start', 'orders'], 'queue-start: "orders" is one argument too many'],
  ])('%j', async (argv, message) => {
    expect(await runner.run(project.folder, argv)).toEqual({ code: 2, stdout: '', stderr: `${message}\n` })
  })
})

test('an application finds the variables of .env from its first module on, and those of the process win', async () => {
  const env = { NODE_ENV: undefined, PATH_OF_PROCESS: '/of-the-process' }
  const { stdout } = await frameworkAlone(project.folder, ['routes', '--entry', 'environment.js', '--json'], env)
  expect((JSON.parse(stdout) as { path: string }[]).map(({ path }) => path)).toEqual([
    '/of-the-file',
    '/of-the-process',
  ])
})
