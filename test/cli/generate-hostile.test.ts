import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Runner, startRunner } from '../support/cli/many.ts'
import { scaffolds } from '../support/cli/scaffolds.ts'
import { framework } from '../support/cli.ts'

let runner: Runner
/** A project with only a package.json, and a folder beside it that it must not touch. */
let folder: string
let beside: string
beforeAll(() => {
  runner = startRunner()
})
afterAll(() => runner.close())
beforeEach(() => {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'framework-generate-')))
  folder = join(top, 'project')
  beside = join(top, 'beside')
  for (const one of [folder, beside]) mkdirSync(one)
  write('package.json', '{ "type": "module" }')
})
afterEach(() => rmSync(dirname(folder), { recursive: true, force: true }))

const run = (...argv: string[]) => runner.run(folder, argv)
const files = () => readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()
function write(file: string, text: string) {
  mkdirSync(dirname(join(folder, file)), { recursive: true })
  writeFileSync(join(folder, file), text)
}

const named = ['controller', 'middleware', 'plugin', 'cron', 'queue', 'command'].map((kind) => `generate-${kind}`)
const typed = ['init-queue', 'init-mailer', 'init-storage', 'init-database']
const all = [...named, 'generate-mqtt', ...typed, 'init-auth']
/** Of each command one way to call it that works. */
const valid = all.map((command) => scaffolds.find(([name]) => name === command)!)

describe.each(all)('%s', (command) => {
  test('--help shows its arguments, and an unknown flag the nearest', async () => {
    const help = await run(command, '--help')
    expect([help.code, help.stderr]).toEqual([0, ''])
    for (const flag of ['--force', '--dry-run', '--json', '--dir <folder>']) expect(help.stdout).toContain(flag)
    expect(await run(command, '--forse')).toEqual({
      code: 2,
      stdout: '',
      stderr: `${command}: there is no --forse; did you mean --force?\n`,
    })
    expect(files()).toEqual(['package.json'])
  })

  test('outside a project, and in one whose package.json is broken, it says so', async () => {
    const [, argv] = valid.find(([name]) => name === command)!
    const outside = await runner.run('/', [command, ...argv])
    expect([outside.code, outside.stdout]).toEqual([1, ''])
    expect(outside.stderr).toBe(
      '/ is not in a project: there is no package.json here or above; "framework init" creates one\n',
    )
    write('package.json', '{ "name": ')
    const broken = await run(command, ...argv)
    expect([broken.code, broken.stdout]).toEqual([1, ''])
    expect(broken.stderr).toMatch(/^\S+\/package\.json cannot be read: .*JSON.*\n$/)
    expect(files()).toEqual(['package.json'])
  })

  test('it overwrites nothing without --force, and nothing at all when one file exists', async () => {
    const [, argv, [first]] = valid.find(([name]) => name === command)!
    write(first!, 'mine\n')
    const before = files()
    expect(await run(command, ...argv)).toEqual({
      code: 1,
      stdout: '',
      stderr: `${first} already exists: nothing was written; --force overwrites\n`,
    })
    expect(files()).toEqual(before)
    const forced = await run(command, ...argv, '--force')
    expect([forced.code, forced.stdout.split('\n')[0]]).toEqual([0, `overwritten  ${first}`])
    const again = await run(command, ...argv)
    expect([again.code, new Set(again.stdout.match(/^\w+/gm))]).toEqual([0, new Set(['unchanged'])])
  })

  test('--dir is a folder of the project, and nothing else', async () => {
    const [, argv] = valid.find(([name]) => name === command)!
    const bare = argv.filter((word, at) => word !== '--dir' && argv[at - 1] !== '--dir')
    write('file', '')
    symlinkSync(beside, join(folder, 'elsewhere'))
    for (const [dir, why] of [
      ['..', `is outside ${folder}`],
      ['/etc', `is outside ${folder}`],
      ['a/../../b', `is outside ${folder}`],
      ['', 'needs a folder'],
      ['a\u0000b', 'needs a folder'],
      ['node_modules/framework', 'is among the installed packages'],
      ['file', 'is a file'],
    ]) {
      const { code, stderr } = await run(command, ...bare, `--dir=${dir}`)
      expect([code, stderr]).toEqual([2, `--dir ${JSON.stringify(dir)} ${why}\n`])
    }
    const linked = await run(command, ...bare, '--dir', 'elsewhere')
    expect([linked.code, linked.stderr]).toEqual([1, expect.stringMatching(/^elsewhere\/.* is outside /)])
    expect(files()).toEqual(['elsewhere', 'file', 'package.json'])
    expect((await run(command, ...bare, '--dir', 'lib/a b')).stdout).toMatch(/^created {2}lib\/a b\//)
  })
})

const tooLong = 'x'.repeat(81)

test.each(named)('%s: an invalid name is refused, with the reason', async (command) => {
  const kind = command.replace('generate-', '')
  for (const [name, why] of [
    ['../x', 'it is a path; the folder is fixed'],
    ['a/b', 'it is a path; the folder is fixed'],
    ['a\\b', 'it is a path; the folder is fixed'],
    ['a b', 'it takes letters, digits, - and _, a letter first'],
    ['', 'it takes letters, digits, - and _, a letter first'],
    ['__proto__', 'it takes letters, digits, - and _, a letter first'],
    ['2nd', 'it takes letters, digits, - and _, a letter first'],
    ['naïve', 'it takes letters, digits, - and _, a letter first'],
    ['a\u0000b', 'it takes letters, digits, - and _, a letter first'],
    ["a';alert(1)//", 'it is a path; the folder is fixed'],
    ['constructor', 'it is a reserved word of JavaScript'],
    ['class', 'it is a reserved word of JavaScript'],
    ['con', 'Windows does not allow a file of that name'],
  ]) {
    const { code, stdout, stderr } = await run(command, name!)
    expect([code, stdout, stderr]).toEqual([2, '', `${JSON.stringify(name)} cannot be the name of a ${kind}: ${why}\n`])
  }
  expect((await run(command, tooLong)).stderr).toContain('it has more than 80 characters')
  expect(await run(command)).toEqual({ code: 2, stdout: '', stderr: `${command}: <name> is missing\n` })
  expect((await run(command, 'a', 'b')).stderr).toBe(`${command}: "b" is one argument too many\n`)
  expect(files()).toEqual(['package.json'])
})

test('generate-mqtt takes the topics that brokers take, and names a file of none', async () => {
  for (const [topic, why] of [
    ['', 'the subscription "" is empty'],
    ['a/#/b', 'the subscription "a/#/b" has levels after "#", which matches all further levels'],
    ['a+/b', 'the subscription "a+/b" has a "+" next to other characters: it must be a whole level'],
    ['a\u0000', 'the subscription "a\\u0000" has a NUL character'],
    ['$share/g', 'the subscription "$share/g" has no filter after the group: "$share/<group>/<filter>"'],
    ['новини/+', 'the topic "новини/+" cannot be turned into a file name: pass one with --name <name>'],
    ['///', 'the topic "///" cannot be turned into a file name: pass one with --name <name>'],
  ]) {
    expect(await run('generate-mqtt', topic!)).toEqual({ code: 2, stdout: '', stderr: `${why}\n` })
  }
  const long = await run('generate-mqtt', 'x/'.repeat(40_000))
  expect([long.code, long.stderr.length < 300]).toEqual([2, true])
  expect((await run('generate-mqtt', 'a', '--name', '../b')).stderr).toContain('it is a path')
  expect(await run('generate-mqtt')).toEqual({ code: 2, stdout: '', stderr: 'generate-mqtt: <topic> is missing\n' })
  expect(files()).toEqual(['package.json'])
})

test.each([
  ['generate-queue', ['orders', '-t', 'bullqm'], 'bullmq, pgboss, sqs or memory', 'bullmq'],
  ['init-queue', ['-t', 'pg-boss'], 'bullmq, pgboss, sqs or memory', 'pgboss'],
  ['init-mailer', ['-t', 'handlebar'], 'handlebars, ejs, edge, mustache, custom or none', 'handlebars'],
  ['init-storage', ['--type', '__proto__'], 's3, azure or local', undefined],
  ['init-storage', ['-t', 'S3'], 's3, azure or local', 's3'],
])('%s %j: an unknown kind', async (command, argv, kinds, close) => {
  const { code, stdout, stderr } = await run(command, ...argv)
  const hint = close === undefined ? '' : `; did you mean ${close}?`
  expect([code, stdout, stderr]).toEqual([2, '', `--type takes ${kinds}, not ${JSON.stringify(argv.at(-1))}${hint}\n`])
  expect(files()).toEqual(['package.json'])
})

test.each(typed)('%s: without a kind and without a terminal it lists the kinds', async (command) => {
  const { code, stdout, stderr } = await run(command)
  expect([code, stdout]).toEqual([2, ''])
  expect(stderr).toMatch(/^--type is missing: (\w+, .*)?\w+ or \w+\n$/)
})

test('generate-cron: invalid patterns and zones, and runtimes without jobs', async () => {
  const pattern = await run('generate-cron', 'a', '--pattern', '61 * * * *')
  expect([pattern.code, pattern.stderr]).toEqual([
    2,
    expect.stringMatching(/^the cron pattern "61 .*has "61" as minute/),
  ])
  expect((await run('generate-cron', 'a', '-p', '0 0 30 2 *')).code).toBe(2)
  const zone = await run('generate-cron', 'a', '--timezone', "Europe/'; x")
  expect([zone.code, zone.stderr]).toEqual([
    2,
    `--timezone takes a zone of the IANA database, for example Europe/Rome, not "Europe/'; x"\n`,
  ])
  write('bun.lock', '')
  expect((await run('generate-cron', 'a')).code).toBe(0)
})

test('names of the framework are refused', async () => {
  for (const name of ['cache', 'rate-limit', 'validation', 'mqtt', 'databases', 'websockets', 'get', 'names', 'then']) {
    const { code, stderr } = await run('generate-plugin', name)
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/^the framework has a plugin or service \w+: choose another name/),
    ])
  }
  for (const name of ['list', 'help']) {
    const { code, stderr } = await run('generate-command', name)
    expect([code, stderr]).toEqual([2, `"${name}" is a command of the framework: choose another name\n`])
  }
})

test('an import of anyone is not forged: topics and zones stand in their files as text', async () => {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: that is what it is about
  const topic = "a'/*/\u2028`${process.exit(1)}\\/+"
  expect((await run('generate-mqtt', topic)).code).toBe(0)
  const [file] = files().filter((one) => /mqtt\/.*exit-1.*any\.ts$/.test(one))
  const text = readFileSync(join(folder, file!), 'utf8')
  const literals = [...text.matchAll(/"(?:[^"\\]|\\.)*"/g)].map(([literal]) => JSON.parse(literal) as string)
  expect(literals).toEqual([topic, topic])
})

describe('a folder that cannot be written', () => {
  test('a file in the place of a folder', async () => {
    write('src', 'no folder')
    const { code, stdout, stderr } = await run('generate-controller', 'users')
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toBe('src is a file, not a folder: nothing was written\n')
  })

  test('a folder that is read-only leaves no files', async () => {
    const sources = join(folder, 'src')
    mkdirSync(sources)
    chmodSync(sources, 0o555)
    const { code, stderr } = await run('generate-controller', 'users')
    chmodSync(sources, 0o755)
    // Root writes everywhere.
    if (process.getuid?.() === 0) return expect(code).toBe(0)
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^nothing was written: EACCES.*\n$/)])
    return expect(files()).toEqual(['package.json', 'src'])
  })

  test('a folder whose name the system refuses leaves no files', async () => {
    const { code, stderr } = await run('generate-controller', 'users', '--dir', `lib/${'x'.repeat(300)}`)
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^nothing was written: ENAMETOOLONG.*\n$/)])
    expect(files().filter((file) => file.endsWith('.ts'))).toEqual([])
  })

  test('a folder in the place of the second file takes the first one back', async () => {
    mkdirSync(join(folder, 'src/controllers/users.test.ts'), { recursive: true })
    const { code, stderr } = await run('generate-controller', 'users')
    expect([code, stderr]).toEqual([1, 'src/controllers/users.test.ts exists and is not a file: nothing was written\n'])
    expect(files().filter((file) => file.endsWith('users.ts'))).toEqual([])
  })
})

test('from a folder within the project it writes into the folders of the project', async () => {
  mkdirSync(join(folder, 'src/deep/er'), { recursive: true })
  const { stdout } = await runner.run(join(folder, 'src/deep'), ['generate-middleware', 'tenant'])
  expect(stdout).toBe('created  src/middlewares/tenant.ts\ncreated  src/middlewares/tenant.test.ts\n')
})

test('an existing .gitignore receives the missing lines', async () => {
  writeFileSync(join(folder, '.gitignore'), 'dist/')
  await run('init-storage', '-t', 'local')
  expect(readFileSync(join(folder, '.gitignore'), 'utf8')).toBe('dist/\n/storage/\n.env\n.env.local\n.env.*.local\n')
})

test('an existing .env that receives a secret is ignored from then on, and a note says if git has it already', async () => {
  write('.env', 'PORT=3000\n')
  const git = (...args: string[]) => execFileSync('git', args, { cwd: folder, encoding: 'utf8' })
  git('init', '-q')
  await run('init-queue', '-t', 'bullmq')
  expect(files()).not.toContain('.gitignore')
  git('add', '.env')
  const { stderr } = await run('init-auth')
  expect(git('check-ignore', '--no-index', '.env')).toBe('.env\n')
  expect(stderr).toContain('Warning: git already tracks .env')
})

test('an existing .env.example receives the missing variables, each once', async () => {
  write('.env.example', 'PORT=3000\n#export AWS_REGION = eu-west-1')
  const { stdout } = await run('init-storage', '-t', 's3')
  expect(stdout).toContain('updated  .env.example\n')
  const text = readFileSync(join(folder, '.env.example'), 'utf8')
  expect(text).toMatch(/^PORT=3000\n#export AWS_REGION = eu-west-1\nS3_BUCKET=shop\n/)
  expect(text.match(/AWS_REGION/g)).toHaveLength(1)
  await run('init-queue', '-t', 'sqs')
  expect(readFileSync(join(folder, '.env.example'), 'utf8')).toBe(`${text}# SQS_ENDPOINT=http://127.0.0.1:9324\n`)
})

test('as a process: nothing is asked without a terminal, and colours are off', async () => {
  const asked = await framework(folder, ['init-mailer'], { NO_COLOR: '1' })
  expect(asked).toEqual({
    code: 2,
    stdout: '',
    stderr: '--type is missing: handlebars, ejs, edge, mustache, custom or none\n',
  })
  const done = await framework(folder, ['generate-controller', 'users'], { FORCE_COLOR: '1', NO_COLOR: '1' })
  expect([done.code, `${done.stdout}${done.stderr}`.includes('\u001b')]).toEqual([0, false])
})
