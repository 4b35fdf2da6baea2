import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { framework } from '../support/cli/fresh.ts'
import { framework as frameworkAlone, makeProject, type Project } from '../support/cli.ts'

let project: Project
beforeAll(() => {
  project = makeProject()
})
afterAll(() => project.remove())

const head = "import { router, Server } from 'framework'\nrouter.get('/hello', () => 'hi')\n"

/** Of JavaScript where TypeScript is not the point: it starts in half of the time. */
async function generate(files: Readonly<Record<string, string>>, ...args: string[]) {
  project.write(files)
  const entry = Object.keys(files).at(-1)!
  // One that ends its process has one of its own, and so has one whose folder has got a tsconfig.json, which is read once.
  const run = entry === 'exits.js' || 'tsconfig.json' in files ? frameworkAlone : framework
  const ended = await run(project.folder, ['generate-sdk', '--dry-run', '--entry', entry, ...args])
  return { ...ended, stderr: ended.stderr.replace(/^Not booted.*\n/m, '') }
}

test('without an entry it lists what it looked for', async () => {
  const empty = makeProject()
  const ended = await framework(empty.folder, ['generate-sdk'])
  expect(ended.code).toBe(1)
  expect(ended.stderr).toBe(
    `no server found in ${empty.folder}: looked for src/server.ts, server.ts, src/app.ts, app.ts (also .mts, .js, .mjs), dist/server.js. Pass the module that exports it: --entry <file>\n`,
  )
  expect(existsSync(join(empty.folder, 'sdk.ts'))).toBe(false)
  empty.remove()
})

describe('an entry with a mistake is reported with its name, file and line', () => {
  test.each([
    ['syntax.ts', `${head}const = 5\n`, /^syntax\.ts cannot be imported: \S*syntax\.ts:3:7: Expected identifier/],
    [
      'throws.ts',
      `${head}\nthrow new Error('no database')\n`,
      /^throws\.ts cannot be imported: no database \(throws\.ts:4:/,
    ],
    [
      'environment.ts',
      `import { createEnvSchema } from 'framework'\nconst env = createEnvSchema((schema) => ({ A_KEY: schema.string(), B: schema.number({ default: 1 }), C_URL: schema.string() }), { file: false })\n`,
      /^environment\.ts cannot be imported: the environment cannot be used \(.*\) \(environment\.ts:2:\d+\):\n {2}A_KEY is missing; it takes text\n {2}C_URL is missing; it takes text\nExplained by: npm run framework -- docs EnvError\n$/,
    ],
    ['throws-text.js', `throw 'text'\n`, /^throws-text\.js cannot be imported: it throws text\n$/],
    ['missing.ts', `import './nothing.ts'\n`, /^missing\.ts cannot be imported: Cannot find module '.*nothing\.ts'/],
    [
      'package.js',
      `import 'no-such-package'\n`,
      /^package\.js cannot be imported: Cannot find package 'no-such-package'/,
    ],
    [
      'listens.js',
      `${head}export const server = new Server()\nawait server.listen()\n`,
      /^listens\.js calls server\.listen\(\)/,
    ],
    [
      'listens-later.js',
      `${head}export const server = new Server()\nvoid server.listen()\nawait new Promise((r) => setTimeout(r, 50))\n`,
      /^listens-later\.js calls server\.listen\(\)/,
    ],
    [
      'listens-at-the-end.js',
      `${head}export const server = new Server()\nserver.listen()\n`,
      /^listens-at-the-end\.js calls server\.listen\(\)/,
    ],
    [
      'rejects-at-the-end.ts',
      `${head}export const server = new Server()\nvoid Promise.reject(new Error('lost'))\n`,
      /^rejects-at-the-end\.ts cannot be imported: lost \(rejects-at-the-end\.ts:4:/,
    ],
    [
      'rejects.js',
      `${head}void Promise.reject(new Error('lost'))\nawait new Promise((r) => setTimeout(r, 5000))\n`,
      /^rejects\.js cannot be imported: lost \(rejects\.js:3:/,
    ],
    [
      'nothing.js',
      `export {}\n`,
      /^nothing\.js exports no server: looked for "server", the default export, "app"\. It exports nothing\./,
    ],
    [
      'other.js',
      `export const router = 1, server = {}\n`,
      /^other\.js exports no server: .*It exports router, server\./,
    ],
    ['exits.js', `process.exit(0)\n`, /^exits\.js ended the process with code 0 while it was imported\n$/],
  ])('%s', async (file, source, message) => {
    const ended = await generate({ [file]: source })
    expect([ended.code, ended.stdout]).toEqual([1, ''])
    expect(ended.stderr).toMatch(message)
    expect(ended.stderr).not.toMatch(/^ {4}at /m)
  })

  test.each([
    [
      'is never done',
      'never-1.js',
      'await new Promise(() => {})',
      ['--timeout', '0.5'],
      'never-1.js has not finished after 0.5 s: it awaits something that never settles',
    ],
    [
      'has a function that is never done',
      'never-2.js',
      'export const make = () => new Promise(() => {})',
      ['--export', 'make', '--timeout', '0.5'],
      'never-2.js has not finished after 0.5 s: it awaits something that never settles',
    ],
    [
      'has a function that fails',
      'never-3.js',
      "export const make = async () => { throw new Error('no database') }",
      ['--export', 'make'],
      'never-3.js: make() fails: no database (never-3.js:3:',
    ],
    [
      'has a function that makes something else',
      'never-4.js',
      'export const make = () => 5',
      ['--export', 'make'],
      'never-4.js: make() returned number, not a server',
    ],
  ])('one that %s', async (_what, file, line, args, message) => {
    const ended = await generate({ [file]: `${head}${line}\n` }, ...args)
    expect([ended.code, ended.stdout]).toEqual([1, ''])
    expect(ended.stderr).toContain(message)
    expect(ended.stderr).not.toMatch(/^ {4}at /m)
  })

  test('a folder', async () => {
    project.write({ 'folder/server.ts': head })
    const ended = await framework(project.folder, ['generate-sdk', '--entry', 'folder'])
    expect([ended.code, ended.stderr]).toEqual([1, 'the entry folder is a folder: pass the file in it\n'])
  })

  test('and with its stack when DEBUG asks for it', async () => {
    project.write({ 'debug.js': 'throw new Error("no database")\n' })
    const ended = await framework(project.folder, ['generate-sdk', '--entry', 'debug.js'], { DEBUG: '1' })
    expect(ended.stderr).toMatch(/^ {4}at /m)
  })
})

describe('an entry may', () => {
  const server = 'new Server({ gracefulShutdown: false })'

  test.each([
    ['default', `${head}export default ${server}\n`],
    ['app', `${head}export const app = ${server}\n`],
    ['open-handles', `${head}setInterval(() => {}, 1000)\nexport const server = ${server}\n`],
    ['talks', `${head}console.log('starting'); process.stdout.write('up')\nexport const server = ${server}\n`],
    ['enum', `${head}enum Color { Red }\nexport const server = ${server}\nexport { Color }\n`],
  ])('be one that has %s', async (name, source) => {
    const ended = await generate({ [`${name}.${name === 'enum' ? 'ts' : 'js'}`]: source })
    expect(ended.code).toBe(0)
    expect(ended.stdout).toMatch(/^\/\/ Written by/)
    expect(ended.stdout).toContain('readonly hello: {')
  })

  test('export a function that makes the server', async () => {
    const files = { 'make.ts': `${head}export async function make() { return ${server} }\n` }
    const ended = await generate(files, '--export', 'make')
    expect([ended.code, ended.stdout.includes('hello')]).toEqual([0, true])
  })

  test('import in every way of TypeScript, by the paths of tsconfig.json too', async () => {
    const files = {
      'lib/a.ts': `import { b } from './b.js'\nimport { c } from './c'\nimport { d } from '#lib/d'\nexport const a: string = b + c + d\n`,
      'lib/b.ts': `export const b = '/b' as string\n`,
      'lib/c/index.ts': `export const c: string = '/c'\n`,
      'lib/d.ts': `export const d: string = '/d'\n`,
      'tsconfig.json': '{ "compilerOptions": { "paths": { "#lib/*": ["./lib/*"] } } }',
      'imports.ts': `${head}import { a } from './lib/a'\nrouter.get(a, () => import.meta.url)\nexport const server = ${server}\n`,
    }
    const ended = await generate(files)
    expect([ended.code, ended.stderr]).toEqual([0, ''])
    expect(ended.stdout).toContain("send('GET', '/b/c/d', input)")
  })

  test('fail to require a file, which is reported with its place', async () => {
    const ended = await generate({
      'gone/package.json': '{ "type": "commonjs" }',
      'gone/a.cjs': `require('./nope')\n`,
      'gone.ts': `import './gone/a.cjs'\nexport const server = ${server}\n`,
    })
    // On Node.js 20 the place is in the list of files that required it.
    expect([ended.code, ended.stderr]).toEqual([
      1,
      expect.stringMatching(/Cannot find module '\.\/nope'.*gone\/a\.cjs/s),
    ])
  })

  test('require in every way of CommonJS', async () => {
    const files = {
      'old/package.json': '{ "type": "commonjs" }',
      'old/a.cjs': `exports.a = require('./b').b + require('./c').c + require('./d.json').d + require('node:path').posix.sep + 'e'\n`,
      'old/b.js': `exports.b = '/b'\n`,
      'old/c/index.js': `exports.c = '/c'\n`,
      // Before a folder comes a file, but not in TypeScript: the rules are those of Node.js.
      'old/c.ts': `export const c = '/wrong'\n`,
      'old/d.json': '{ "d": "/d" }',
      'tsconfig.json': '{ "compilerOptions": { "paths": { "#lib/*": ["./lib/*"] } } }',
      'requires.ts': `${head}import { a } from './old/a.cjs'\nrouter.get(a as '/', () => 1)\nexport const server = ${server}\n`,
    }
    const ended = await generate(files)
    expect([ended.code, ended.stderr]).toEqual([0, ''])
    expect(ended.stdout).toContain("send('GET', '/b/c/d/e', input)")
  })

  test.each([
    ['of the standard', '{}'],
    ['of TypeScript', '{ "compilerOptions": { "experimentalDecorators": true } }'],
  ])('name controllers with decorators %s', async (_which, tsconfig) => {
    const files = {
      'decorated/tsconfig.json': tsconfig,
      'decorated/controllers/books.ts': `import { controller, get } from 'framework'\n@controller('/books')\nexport class Books {\n  @get('/:isbn') one() { return 1 }\n}\n`,
      'decorated/server.ts': `import { fileURLToPath } from 'node:url'\nimport { Server } from 'framework'\nexport const server = new Server({ controllerPatterns: [fileURLToPath(new URL('controllers/*.ts', import.meta.url))] })\n`,
    }
    const ended = await generate(files)
    expect(ended.code).toBe(0)
    expect(ended.stdout).toContain('byIsbn(isbn: string): {')
  })

  test('have plugins whose routes are there after boot, which is undone', async () => {
    const source = `import { definePlugin, Server } from 'framework'
const late = definePlugin({ name: 'late', setup(ctx) { ctx.get('/late', () => 1); ctx.onClose(() => console.error('closed')) } })
export const server = new Server({ plugins: [late()] })\n`
    const plain = await generate({ 'late.js': source })
    expect([plain.stdout.includes('late:'), plain.stderr]).toEqual([
      false,
      'late.js has no routes: do its modules import those that register them?\n',
    ])
    const booted = await generate({ 'late.js': source }, '--boot')
    expect([booted.stdout.includes('readonly late: {'), booted.stderr]).toEqual([true, 'closed\n'])
  })

  test('fail to boot, which is reported', async () => {
    const source = `import { definePlugin, Server } from 'framework'
const bad = definePlugin({ name: 'bad', setup() { throw new Error('no database') } })
export const server = new Server({ plugins: [bad()] })\n`
    const ended = await generate({ 'bad.js': source }, '--boot')
    expect([ended.code, ended.stdout]).toEqual([1, ''])
    expect(ended.stderr).toMatch(/"?bad"?.*no database/)
  })
})
