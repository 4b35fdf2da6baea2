import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { framework } from '../support/cli/fresh.ts'
import { framework as inProcess, makeProject, type Project } from '../support/cli.ts'

describe('commands in src/commands', () => {
  let project: Project
  beforeAll(() => {
    project = makeProject({
      'src/server.ts': `import { appendFileSync } from 'node:fs'
import { definePlugin, Server } from 'framework'
console.log('imported')
const store = definePlugin({
  name: 'store',
  provide: () => ({ store: new Map([['books', 3]]) }),
  setup(ctx) {
    console.log('booted')
    // Would keep the process alive.
    setInterval(() => {}, 1000)
    if (process.env.NO_STORE) throw new Error('connect ECONNREFUSED')
    ctx.onClose(async () => {
      await new Promise((resolve) => setTimeout(resolve, 20))
      console.log('closed')
      appendFileSync(process.env.CLOSED ?? 'closed', 'x')
      if (process.env.NO_CLOSE) throw new Error('not flushed')
    })
  },
})
export const server = new Server({ plugins: [store()] })
`,
      'src/commands/greet.ts': `import { Command, type CommandInput } from 'framework'
export class GreetCommand extends Command {
  readonly name = 'greet'
  readonly description = 'Greets someone'
  override readonly details = 'As often as you like.'
  override readonly arguments = [{ name: 'who', description: 'Whom', required: true }, { name: 'and' }] as const
  override readonly flags = {
    loud: { type: 'boolean', short: 'l', description: 'In capitals' },
    comma: { type: 'boolean', default: true, description: 'Without a comma' },
    times: { type: 'number', default: 1, description: 'How often' },
  } as const
  run({ arguments: { who, and }, flags, print }: CommandInput<this>) {
    const whom = and === undefined ? who : who + ' and ' + and
    if (flags.times > 2) this.logger.warn('often')
    for (let time = 0; time < flags.times; time++) {
      print((flags.comma ? 'Hello, ' : 'Hello ') + (flags.loud ? whom.toUpperCase() : whom))
    }
  }
}
`,
      'src/commands/store/count.ts': `import { defineCommand } from 'framework'
import { server } from '../../server.ts'
export const count = defineCommand({
  name: 'store:count',
  description: 'Counts what is in the store',
  flags: { fail: { type: 'boolean' }, lose: { type: 'boolean' }, code: { type: 'number' } },
  async run({ flags, print, boot }) {
    const { services } = await boot(server)
    print(String(services.store.get('books')))
    if (flags.fail) throw new Error('no such book')
    if (flags.lose) {
      void Promise.reject(new Error('lost'))
      await new Promise(() => {})
    }
    return flags.code
  },
})
`,
      'src/commands/boots.ts': `import { defineCommand } from 'framework'
export const boots = defineCommand({
  name: 'boots',
  description: 'Boots the application',
  async run({ print, boot }) {
    print((await boot()).plugins.children.map(({ name }) => name).join(' '))
  },
})
// Exported once more, it is the same command.
export const again = boots
`,
      'src/commands/index.ts': `export * from './greet.ts'\n`,
      'src/commands/lib/helper.ts': `export const helper = () => {}\nexport class Helper {}\nexport const data = { name: 'x' }\n`,
      'src/commands/greet.test.ts': `throw new Error('a test was imported')\n`,
      'src/commands/types.d.ts': `export interface A {}\n`,
    })
  })
  afterAll(() => project.remove())
  const closed = (file: string) => {
    const path = join(project.folder, file)
    return existsSync(path) ? readFileSync(path, 'utf8').length : 0
  }

  test('are listed under a heading of their own', async () => {
    const { code, stdout, stderr } = await framework(project.folder, ['list'])
    expect([code, stderr]).toEqual([0, 'imported\n'])
    expect(stdout).toMatch(
      /^Of this application\n {2}boots +Boots the application\n {2}greet +Greets someone\n {2}store:count +Counts what is in the store\n/m,
    )
    const asJson = await framework(project.folder, ['list', '--json'])
    const json = JSON.parse(asJson.stdout) as unknown[]
    expect(json).toContainEqual({ name: 'list', description: 'Lists the commands', from: 'framework' })
    expect(json).toContainEqual({ name: 'greet', description: 'Greets someone', from: 'src/commands/greet.ts' })
  })

  test('are listed with what is wrong with the others', async () => {
    const other = makeProject({
      'src/server.ts': `import { definePlugin, Server } from 'framework'
const command = { name: process.env.TOOL ?? 'mend', description: 'Mends', run() {} }
const tools = definePlugin({ name: 'tools', commands: () => [command] })
export const server = new Server({ plugins: [tools()] })
`,
      'src/commands/a.ts': "throw new Error('half written')\n",
    })
    try {
      const { code, stdout, stderr } = await framework(other.folder, ['list'], { TOOL: 'forge' })
      expect([code, stderr]).toEqual([0, expect.stringContaining('half written')])
      expect(stdout).toMatch(/Of its plugins\n {2}forge +Mends\n/)
    } finally {
      other.remove()
    }
  })

  const logged = expect.stringMatching(/^\{"level":40,"time":\d+,"command":"GreetCommand","msg":"often"\}\n$/)
  test.each([
    [['greet', 'Ada', '-l', '--no-comma'], 0, 'Hello ADA\n', ''],
    [['greet', '__proto__', 'Ädä 🚲', '--times=3'], 0, 'Hello, __proto__ and Ädä 🚲\n'.repeat(3), logged],
    [['greet', '--', '--loud'], 0, 'Hello, --loud\n', ''],
    [['greet'], 2, '', 'greet: <who> is missing\n'],
    [['gret'], 2, '', 'imported\nthere is no command "gret"; did you mean "greet"?\n'],
  ] as const)('%j', async (argv, code, stdout, stderr) => {
    const ended = await framework(project.folder, argv)
    // The module of another command says that.
    expect({ ...ended, stderr: argv[0] === 'greet' ? ended.stderr.replace(/^imported\n/, '') : ended.stderr }).toEqual({
      code,
      stdout,
      stderr,
    })
  })

  test('have a help', async () => {
    const { stdout } = await framework(project.folder, ['greet', '--help'])
    expect(stdout).toBe(`Usage: framework greet <who> [and] [options]

Greets someone.

As often as you like.

  who               Whom
  and
  -l, --loud        In capitals
  --no-comma        Without a comma
  --times <number>  How often (default 1)
  -h, --help        Shows this help
`)
  })

  test.each([
    ['ends by itself', ['store:count'], {}, [0, '3\n', 'imported\nbooted\nclosed\n'], 1],
    ['ends with a code', ['store:count', '--code', '4'], {}, [4, '3\n', 'imported\nbooted\nclosed\n'], 1],
    ['throws', ['store:count', '--fail'], {}, [1, '3\n', 'imported\nbooted\nclosed\nno such book\n'], 1],
    ['loses an error', ['store:count', '--lose'], {}, [1, '3\n', 'imported\nbooted\nclosed\nlost\n'], 1],
    [
      'cannot be closed',
      ['store:count'],
      { NO_CLOSE: '1' },
      [
        1,
        '3\n',
        'imported\nbooted\nclosed\nclosing the server failed: the close hook of the plugin "store" failed: not flushed\n',
      ],
      1,
    ],
    [
      'does not boot',
      ['store:count'],
      { NO_STORE: '1' },
      [
        1,
        '',
        'imported\nbooted\nthe plugin "store" failed in setup: connect ECONNREFUSED\nExplained by: npm run framework -- docs PluginSetupError\n',
      ],
      0,
    ],
    [
      'asks for the application without naming it',
      ['boots'],
      {},
      [0, 'validation policy responses controllers json store\n', 'imported\nbooted\nclosed\n'],
      1,
    ],
  ] as const)('boot: the server is closed when the command %s', async (how, argv, env, ended, times) => {
    const file = `closed when it ${how}`
    const { code, stdout, stderr } = await framework(project.folder, argv, { ...env, CLOSED: file })
    expect([code, stdout, stderr]).toEqual(ended)
    expect(closed(file)).toBe(times)
  })
})

test('a command that awaits what never settles fails, and says so', async () => {
  const hang = `export const hang = { name: 'hang', description: 'Hangs', run: () => new Promise(() => {}) }\n`
  const project = makeProject({ 'src/commands/hang.js': hang })
  const { code, stderr } = await inProcess(project.folder, ['hang'])
  expect([code, stderr]).toEqual([1, 'the command awaits something that never settles\n'])
  project.remove()
})

describe('a mistake in a command is reported by file, and does not affect the others', () => {
  const command = (name: string, more = '') =>
    `import { defineCommand } from 'framework'\nexport const it = defineCommand({ name: ${name}, description: 'x', ${more} run({ print }) { print('ran') } })\n`
  const cls = (body: string, base = 'Command') =>
    `import { Command } from 'framework'\nexport class Wrong extends ${base} {\n${body}\n  run() {}\n}\n`
  const named = "name = 'wrong'; description = 'x'"
  const wrong: Readonly<Record<string, readonly [source: string, reports: string | RegExp]>> = {
    'a-syntax.js': ['export const = 5\n', /^commands\/a-syntax\.js cannot be imported: Unexpected token '='/],
    'b-throws.js': [
      "\n\nthrow new Error('no key')\n",
      'commands/b-throws.js cannot be imported: no key (commands/b-throws.js:3:7)',
    ],
    'c-missing.js': ["import './nothing.js'\n", /^commands\/c-missing\.js cannot be imported: Cannot find module/],
    'd-listens.js': [
      "import { Server } from 'framework'\nawait new Server({ port: 0 }).listen()\n",
      'commands/d-listens.js calls server.listen() when it is imported. Move that call to a file of its own (src/index.ts), which imports the server',
    ],
    'e-name.js': [cls(''), "commands/e-name.js: Wrong has no name: name = 'greet'"],
    'f-description.js': [
      cls("name = 'x'"),
      "commands/f-description.js: Wrong has no description: description = 'What x does'",
    ],
    'g-constructor.js': [
      cls(`${named}; constructor(a) { super() }`),
      'commands/g-constructor.js: the constructor of Wrong takes arguments, but the framework calls it without arguments',
    ],
    'h-throws.js': [
      cls(`${named}; constructor() { super(); throw new Error('no') }`),
      'commands/h-throws.js: Wrong cannot be made: no',
    ],
    'i-base.js': [
      `export class Wrong { ${named}; run() {} }\n`,
      'commands/i-base.js: Wrong has a run method but does not extend Command',
    ],
    'i-beside.js': [
      `${command("'a b'")}export const other = defineCommand({ name: 'beside', description: 'x', run() {} })\n`,
      /^commands\/i-beside\.js: a command has the name "a b"/,
    ],
    'j-path.js': [
      command("'../x'"),
      'commands/j-path.js: a command has the name "../x", which needs a letter first, then letters, digits, "-", "_", "." and ":"',
    ],
    'k-unicode.js': [
      command("'größe'"),
      /^commands\/k-unicode\.js: a command has the name "größe", which needs a letter first/,
    ],
    'l-proto.js': [command("'__proto__'"), /^commands\/l-proto\.js: a command has the name "__proto__"/],
    'm-help.js': [command("'help'"), 'commands/m-help.js: a command has the name "help", which "framework help" has'],
    'n-order.js': [
      command("'n'", "arguments: [{ name: 'a' }, { name: 'b', required: true }],"),
      'commands/n-order.js: a command has the required argument "b" after "a", which is optional',
    ],
    'o-twice.js': [
      command("'o'", "arguments: [{ name: 'a' }, { name: 'a' }],"),
      'commands/o-twice.js: a command has two arguments "a"',
    ],
    'o-variadic.js': [
      command("'ov'", "arguments: [{ name: 'all', variadic: true }, { name: 'last' }],"),
      'commands/o-variadic.js: a command has the variadic argument "all" before others, which would never receive a value',
    ],
    'p-flag.js': [
      command("'p'", "flags: { help: { type: 'boolean' } },"),
      'commands/p-flag.js: a command has the flag "help", which every command has',
    ],
    'q-type.js': [
      command("'q'", "flags: { a: { type: 'text' } },"),
      "commands/q-type.js: a command has the flag \"a\" without a type: 'string', 'number' or 'boolean'",
    ],
    'r-default.js': [
      command("'r'", "flags: { a: { type: 'number', default: '1' } },"),
      'commands/r-default.js: a command has the flag "a" of type number with a default of another type',
    ],
    's-short.js': [
      command("'s'", "flags: { a: { type: 'boolean', short: 'h' } },"),
      'commands/s-short.js: a command has the flag "a" with the short form -h, which belongs to the help',
    ],
    't-no.js': [
      command("'t'", "flags: { 'no-a': { type: 'boolean' } },"),
      'commands/t-no.js: a command has the flag "no-a"; the prefix "no-" turns another flag off',
    ],
    't-many.js': [
      command("'tm'", "flags: { a: { type: 'number', multiple: true } },"),
      'commands/t-many.js: a command has the flag "a" with multiple, which only a string without a default can have',
    ],
    'u-group.js': [
      command("'queue'"),
      'commands/u-group.js: the command "queue" is already a command of the framework: rename it',
    ],
    'u-own.js': [
      command("'routes'"),
      'commands/u-own.js: the command "routes" is already a command of the framework: rename it',
    ],
    'v-one.js': [
      command("'same'"),
      /^the command "same" is in commands\/v-one\.js and in commands\/v-two\.js: rename one/,
    ],
    'v-two.js': [command("'same'"), /^the command "same" is in/],
    'w-plugin.js': [
      command("'theirs'"),
      'the command "theirs" is in commands/w-plugin.js and in the plugin tools: rename one',
    ],
  }
  let project: Project
  beforeAll(() => {
    project = makeProject({
      ...Object.fromEntries(Object.entries(wrong).map(([name, [source]]) => [`commands/${name}`, source])),
      'commands/right.js': command("'right'"),
      'server.js': `import { definePlugin, Server } from 'framework'
const tools = definePlugin({ name: 'tools', commands: async () => [{ name: 'theirs', description: 'x', run() {} }] })
export const server = new Server({ plugins: [tools()] })
`,
    })
  })
  afterAll(() => project.remove())

  test('list notes each', async () => {
    const { code, stdout, stderr } = await framework(project.folder, ['list'])
    expect(code).toBe(0)
    expect(stdout).toMatch(/^Of this application\n {2}beside +x\n {2}right +x\n/m)
    const lines = stderr.trimEnd().split('\n')
    for (const [, reports] of Object.values(wrong)) {
      expect(lines).toContainEqual(typeof reports === 'string' ? reports : expect.stringMatching(reports))
    }
    expect(lines).toHaveLength(Object.keys(wrong).length - 1)
  })

  test('another runs, and says nothing of them', async () => {
    expect(await framework(project.folder, ['right'])).toEqual({ code: 0, stdout: 'ran\n', stderr: '' })
  })

  test('one of two of the same name does not run', async () => {
    const { code, stdout, stderr } = await framework(project.folder, ['same'])
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toContain('the command "same" is in commands/v-one.js and in commands/v-two.js: rename one\n')
    expect(stderr).toMatch(/^there is no command "same"; .*\n$/m)
  })
})

test('where only a build exists, its commands and its server are found', async () => {
  const project = makeProject({
    'dist/commands/hi.js': `import { defineCommand } from 'framework'
export const hi = defineCommand({ name: 'hi', description: 'Says hi', run({ print }) { print('hi') } })
`,
  })
  expect(await framework(project.folder, ['hi'])).toEqual({ code: 0, stdout: 'hi\n', stderr: '' })
  project.write({ 'dist/server.js': "import { Server } from 'framework'\nexport const server = new Server()\n" })
  const { code, stderr } = await framework(project.folder, ['routes'])
  expect([code, stderr]).toEqual([0, expect.stringContaining('dist/server.js has no routes')])
  project.remove()
})
