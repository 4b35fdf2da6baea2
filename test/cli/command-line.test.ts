import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { main } from '../../cli/main.ts'
import manifest from '../../package.json' with { type: 'json' }
import { framework } from '../support/cli/fresh.ts'
import { Sink } from '../support/cli/lines.ts'
import { type Runner, startRunner } from '../support/cli/many.ts'
import { makeProject, type Project, root } from '../support/cli.ts'

// vitest would load the files of clipanion that are for bundlers.
let runner: Runner
beforeAll(() => {
  runner = startRunner()
})
afterAll(() => runner.close())

/** A run in this process. */
async function run(argv: readonly string[], env: Record<string, string> = {}, columns = 0) {
  const terminal = { isTTY: columns > 0, columns }
  const stdout = Object.assign(new Sink(), terminal)
  const stderr = Object.assign(new Sink(), terminal)
  const code = await main(argv, { stdout, stderr, env })
  return { code, stdout: stdout.text, stderr: stderr.text }
}

const own = ['list', 'routes', 'explain', 'plugins', 'cron-start', 'queue-start', 'queue list', 'generate-sdk']

test.each([[['--help']], [['-h']], [['help']]])('%j lists every command', async (argv) => {
  const { code, stdout, stderr } = await run(argv)
  expect([code, stderr]).toEqual([0, ''])
  for (const name of own) expect(stdout).toMatch(new RegExp(`^ {2}${name} +\\S`, 'm'))
})

test('so does nothing at all, which is not success', async () => {
  const { stdout } = await run(['--help'])
  expect(await run([])).toEqual({ code: 2, stdout, stderr: '' })
})

test('a terminal gets lines that fit, everyone else one for each command', async () => {
  const narrow = await run(['--help'], {}, 60)
  const rows = narrow.stdout.split('\n').slice(2, -3)
  expect(Math.max(...rows.map((line) => line.length))).toBeLessThanOrEqual(60)
  expect(rows.some((line) => /^ {10,}\S/.test(line))).toBe(true)
  const piped = await run(['--help'])
  expect(piped.stdout.split('\n').some((line) => /^ {10,}\S/.test(line))).toBe(false)
})

test.each([[['--version']], [['-v']]])('%j is the version of the package', async (argv) => {
  expect(await run(argv)).toEqual({ code: 0, stdout: `${manifest.version}\n`, stderr: '' })
})

test.each([
  [['generate-sdk', '--help']],
  [['generate-sdk', '-h']],
  [['help', 'generate-sdk']],
  [['generate-sdk', '--out', 'a', '--help']],
])('%j describes that command', async (argv) => {
  const { code, stdout, stderr } = await run(argv)
  expect([code, stderr]).toEqual([0, ''])
  expect(stdout).toMatch(/^Usage: framework generate-sdk \[options\]\n/)
  expect(stdout).toMatch(/^ {2}-o, --out <file> +\S/m)
})

describe('invalid arguments are exit code 2 and one line on standard error', () => {
  let empty: Project
  beforeAll(() => {
    empty = makeProject()
  })
  afterAll(() => {
    empty.remove()
  })

  test.each([
    [['lst'], 'there is no command "lst"; did you mean "list"?'],
    [['generate_sdk'], 'there is no command "generate_sdk"; did you mean "generate-sdk"?'],
    [['--colors'], 'there is no --colors before a command; "framework --help" lists the commands'],
    [['--versoin'], 'there is no --versoin before a command; did you mean --version?'],
    [['list', '--jso'], 'list: there is no --jso; did you mean --json?'],
    [['list', '--__proto__'], 'list: there is no --__proto__'],
    [['list', 'a b'], 'list: "a b" is one argument too many'],
    [['list', '--json=5'], 'list: --json takes no value; --no-json turns it off'],
    [['explain', 'GET', '/', '--json=false'], 'explain: --json takes no value; --no-json turns it off'],
    [['list', '--pasword=hunter2'], 'list: there is no --pasword=…'],
    [['generate-sdk', '-o'], 'generate-sdk: -o needs a value'],
    [
      ['docs', 'PluginSetupEror'],
      'docs: no error and no finding has the code "PluginSetupEror". Did you mean "PluginSetupError"?',
    ],
  ])('%j', async (argv, message) => {
    expect(await runner.run(empty.folder, argv)).toEqual({ code: 2, stdout: '', stderr: `${message}\n` })
  })

  test.each([['zzzzzzzzzz'], ['__proto__'], ['constructor']])('%s, which a plugin may have', async (name) => {
    const { code, stdout, stderr } = await runner.run(empty.folder, [name])
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toBe(
      `there is no command "${name}"; "framework list" lists the commands. The commands of plugins are unknown: no server found in ${empty.folder}: looked for src/server.ts, server.ts, src/app.ts, app.ts (also .mts, .js, .mjs), dist/server.js\n`,
    )
  })
})

test('colours are for terminals, and NO_COLOR is obeyed', async () => {
  const isColored = async (env: Record<string, string>, columns: number) => {
    const { stdout, stderr } = await run(['--help'], env, columns)
    const failed = await run(['--verbos'], env, columns)
    return [stdout + stderr, failed.stderr].map((text) => text.includes('\u001b'))
  }
  expect(await isColored({}, 0)).toEqual([false, false])
  expect(await isColored({}, 80)).toEqual([true, true])
  expect(await isColored({ NO_COLOR: '1' }, 80)).toEqual([false, false])
  expect(await isColored({ NO_COLOR: '1', FORCE_COLOR: '1' }, 80)).toEqual([false, false])
  expect(await isColored({ FORCE_COLOR: '1' }, 0)).toEqual([true, true])
  expect(await isColored({ TERM: 'dumb' }, 80)).toEqual([false, false])
})

test('a reader that leaves early is not a failure', async () => {
  const child = spawn(process.execPath, [join(root, 'dist/cli/index.js'), '--help'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  child.stdout.destroy()
  let stderr = ''
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString()
  })
  const [code] = (await once(child, 'close')) as [number]
  expect([code, stderr]).toEqual([0, ''])
})

test.runIf(existsSync('/dev/full'))('a result that cannot be written is a failure', async () => {
  const full = openSync('/dev/full', 'w')
  const child = spawn(process.execPath, [join(root, 'dist/cli/index.js'), '--help'], {
    stdio: ['ignore', full, 'pipe'],
  })
  closeSync(full)
  let stderr = ''
  child.stderr!.on('data', (chunk: Buffer) => {
    stderr += chunk.toString()
  })
  const [code] = (await once(child, 'close')) as [number]
  expect([code, stderr]).toEqual([1, expect.stringMatching(/^standard output: ENOSPC.*\n$/)])
})

test('docs explains the codes of errors and of findings, and links to files that exist', async () => {
  const [error, finding, folder] = [
    await run(['docs', 'CronFileError']),
    await run(['docs', 'git.env-file']),
    await run(['docs']),
  ]
  expect(error.stdout).toMatch(/^Code: CronFileError\nStatus: 500\nCause: .*\nRemedy: .*\n$/)
  expect(finding.stdout).toMatch(/^Code: git\.env-file\nLevel: error\n/)
  expect(existsSync(join(folder.stdout.trim(), 'errors.md'))).toBe(true)
  const { stdout } = await run(['docs', 'CronPatternError'])
  expect(existsSync(/See cron \((.*?)\)/.exec(stdout)![1]!)).toBe(true)
})

test('the list begins with what starts a project, in groups, and ends with examples', async () => {
  const { stdout } = await run(['--help'])
  expect(stdout).toMatch(/^Usage: .*\n\nA project\n {2}init +\S/)
  expect(stdout).toContain('\nExamples\n  framework init my-app\n')
})

describe('an application with a plugin that has commands', () => {
  let project: Project
  beforeAll(() => {
    project = makeProject({
      // Of JavaScript: the process that runs them has a loader for TypeScript.
      'src/server.js': `import { definePlugin, Server } from 'framework'
const thrown = [{ __proto__: null }, Symbol('odd'), new AggregateError([new Error('one'), new Error('two')]), new RangeError(), { a: 1 }]
const codes = [256, -1, Number.NaN, 1.5, '3']
const tools = definePlugin({
  name: 'tools',
  commands: async () => [
    {
      name: 'add',
      description: 'Adds two numbers',
      arguments: [{ name: 'first', required: true }, { name: 'second' }],
      flags: { times: { type: 'number', short: 't', default: 1 }, loud: { type: 'boolean' } },
      run({ arguments: { first, second = '0' }, flags, print, note }) {
        if (flags.loud) note('adding')
        print(String((Number(first) + Number(second)) * Number(flags.times)))
      },
    },
    { name: 'fail', description: 'Fails', run() { throw new Error('no database') } },
    { name: 'code', description: 'Ends with 3', run: () => 3 },
    {
      name: 'remove',
      description: 'Removes files',
      arguments: [{ name: 'from', required: true }, { name: 'files', variadic: true }],
      flags: { force: { type: 'boolean' } },
      run: (input) => input.print(JSON.stringify([input.arguments, input.flags.force])),
    },
    {
      name: 'label',
      description: 'Labels',
      flags: { tag: { type: 'string', short: 't', multiple: true, description: 'A tag' } },
      run: (input) => input.print(JSON.stringify(input.flags.tag)),
    },
    { name: 'throw', description: 'x', arguments: [{ name: 'at' }], run({ arguments: { at } }) { throw thrown[at] } },
    { name: 'odd', description: 'x', arguments: [{ name: 'at' }], run: ({ arguments: { at } }) => codes[at] },
    {
      name: 'inherited',
      description: 'x',
      arguments: [{ name: 'valueOf' }],
      flags: { constructor: { type: 'string' }, toString: { type: 'boolean' } },
      run: (input) => input.print(JSON.stringify([input.arguments.valueOf, input.flags.constructor, input.flags.toString])),
    },
  ],
})
export const server = new Server({ plugins: [tools()] })
`,
    })
  })
  afterAll(() => project.remove())

  test.each([
    [['add', '1', '2'], 0, '3\n', ''],
    [['add', '1', '-t', '5', '--loud'], 0, '5\n', 'adding\n'],
    [['add', '--times', 'x', '1'], 2, '', 'add: --times takes a number, not "x"\n'],
    [['add'], 2, '', 'add: <first> is missing\n'],
    [['remove', 'x', 'a', '--force', 'b'], 0, '[{"from":"x","files":["a","b"]},true]\n', ''],
    [['remove', 'x', '--', '--force'], 0, '[{"from":"x","files":["--force"]},false]\n', ''],
    [['remove', 'x'], 0, '[{"from":"x","files":[]},false]\n', ''],
    [['remove'], 2, '', 'remove: <from> is missing\n'],
    [['remove', '--help'], 0, expect.stringContaining('Usage: framework remove <from> [files...] [options]'), ''],
    [['label', '-t', 'a', '--tag=b', '--tag', 'c'], 0, '["a","b","c"]\n', ''],
    [['label'], 0, '[]\n', ''],
    [['label', '--tag'], 2, '', 'label: --tag needs a value\n'],
    [['label', '--help'], 0, expect.stringMatching(/^ {2}-t, --tag <string> {2}A tag; may be repeated$/m), ''],
    [['add', '1', '2', '3'], 2, '', 'add: "3" is one argument too many\n'],
    [['ad'], 2, '', 'there is no command "ad"; did you mean "add"?\n'],
    [['fail'], 1, '', 'no database\n'],
    [['code'], 3, '', ''],
    // Anything can be thrown.
    [['throw', '0'], 1, '', '[Object: null prototype] {}\n'],
    [['throw', '1'], 1, '', 'Symbol(odd)\n'],
    [['throw', '2'], 1, '', 'one; two\n'],
    [['throw', '3'], 1, '', 'RangeError\n'],
    [['throw', '4'], 1, '', '{ a: 1 }\n'],
    // The system would make 0 of the first, and Node.js a crash of the fourth.
    [['odd', '0'], 1, '', 'odd ended with 256, which is not an exit code (0 to 255 or nothing)\n'],
    [['odd', '1'], 1, '', 'odd ended with -1, which is not an exit code (0 to 255 or nothing)\n'],
    [['odd', '2'], 1, '', 'odd ended with NaN, which is not an exit code (0 to 255 or nothing)\n'],
    [['odd', '3'], 1, '', 'odd ended with 1.5, which is not an exit code (0 to 255 or nothing)\n'],
    [['odd', '4'], 1, '', "odd ended with '3', which is not an exit code (0 to 255 or nothing)\n"],
    // Names that every object has.
    [['inherited'], 0, '[null,null,false]\n', ''],
  ])('%j', async (argv, code, stdout, stderr) => {
    expect(await runner.run(project.folder, argv)).toEqual({ code, stdout, stderr })
  })

  test('list and --help show them', async () => {
    const listed = await runner.run(project.folder, ['list'])
    expect(listed.stdout).toMatch(/^Of its plugins\n {2}add +Adds two numbers\n {2}fail +Fails\n/m)
    const { stdout } = await runner.run(project.folder, ['add', '--help'])
    expect(stdout).toMatch(/^Usage: framework add <first> \[second\] \[options\]\n\nAdds two numbers\.\n/)
    expect(stdout).toMatch(/^ {2}-t, --times <number> +\(default 1\)$/m)
  })

  test('an application that cannot be loaded does not hide that the command is unknown', async () => {
    project.write({ 'src/server.js': 'throw new Error("broken")\n' })
    const ended = await framework(project.folder, ['ad'])
    // Perhaps it has that command: the name may be right.
    expect(ended.code).toBe(1)
    expect(ended.stderr).toMatch(
      /^the commands of the plugins are not known: src\/server\.js cannot be imported: broken \(.*\)\n/,
    )
    expect(ended.stderr).toContain('there is no command "ad"')
    const listed = await framework(project.folder, ['list'])
    expect([listed.code, listed.stdout]).toEqual([0, (await run(['--help'])).stdout])
    expect(listed.stderr).toMatch(/^the commands of the plugins are not known: .*\n$/)
  })

  test('a command may not take the name of another', async () => {
    const one = (name: string, command: string) =>
      `definePlugin({ name: '${name}', commands: async () => [{ name: '${command}', description: 'x', run() {} }] })()`
    project.write({
      'src/server.js': `import { definePlugin, Server } from 'framework'
export const server = new Server({ plugins: [${one('mine', 'list')}, ${one('a', 'twice')}, ${one('b', 'twice')}, ${one('c', 'a b')}, ${one('d', 'fine')}] })
`,
    })
    const ended = await framework(project.folder, ['list'])
    expect([ended.code, ended.stderr.split('\n')]).toEqual([
      0,
      [
        'the plugin c: a command has the name "a b", which needs a letter first, then letters, digits, "-", "_", "." and ":"',
        'the plugin mine: the command "list" is already a command of the framework: rename it',
        'the command "twice" is in the plugin a and in the plugin b: rename one',
        '',
      ],
    ])
    expect(ended.stdout).toMatch(/^Of its plugins\n {2}fine +x\n\n/m)
  })
})
