import { cpSync, existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { packageText } from '../../cli/init/existing.ts'
import { pinnedWorkspace } from '../../cli/project/packages.ts'
import manifest from '../../package.json' with { type: 'json' }
import { commandOf, targets } from '../conformance/targets.ts'
import { framework } from '../support/cli/fresh.ts'
import { type Runner, startRunner } from '../support/cli/many.ts'
import { awkwardNames, scaffolds } from '../support/cli/scaffolds.ts'
import { makeProject, type Project, root, runIn, writeJavaScript } from '../support/cli.ts'
import { isLong } from '../support/long.ts'
import type { OwnServer } from '../support/own-server.ts'
import { expectTypesToResolve, filesOf, pack } from '../support/package/tarball.ts'
import { hasPostgres, startPostgres } from '../support/postgres.ts'
import { startTsc } from '../support/typescript.ts'

const peers = ['nodemailer', 'handlebars', 'ejs', 'edge.js', 'mustache', 'node-schedule']

const compilerOptions = {
  target: 'es2023',
  module: 'nodenext',
  types: ['node'],
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  noPropertyAccessFromIndexSignature: false,
  noImplicitOverride: true,
  noImplicitReturns: true,
  noUnusedLocals: true,
  noUnusedParameters: true,
  verbatimModuleSyntax: true,
  isolatedModules: true,
  erasableSyntaxOnly: true,
  allowImportingTsExtensions: true,
  skipLibCheck: true,
  noEmit: true,
}

/** All that is generated is loaded, by globs where there are such and else by its import. */
const server = `import { memoryTransport, router, Server } from 'framework'
import { testClock } from 'framework/testing'
import './queues/orders.ts'
import { mailOptions } from './handlebars/mailer.ts'
import { queueConfig } from './memory/config.ts'
import { tenant } from './middlewares/tenant.ts'
import { featureFlags } from './plugins/feature-flags/index.ts'
import { storageOptions } from './storage.ts'

router.group('/tenants', [tenant], (routes) => {
  routes.get('/', (req) => req.tenant)
})

export const clock = testClock('2026-01-01T00:00:00Z')
export const server = new Server({
  port: 0,
  host: '127.0.0.1',
  errorFormat: 'problem',
  controllerPatterns: ['src/controllers/**/*.{ts,js}'],
  background: { queues: { config: queueConfig, run: true } },
  plugins: {
    cron: true,
    mqtt: { connect: { provider: 'memory' } },
    featureFlags: featureFlags({ keep: 1 }),
    mailer: mailOptions(memoryTransport()),
    storage: storageOptions,
  },
})
`

const main = `import { memoryQueue, mqtt } from 'framework'
import { clock, server } from './server.js'

await server.listen()
const call = async (path, init) => {
  const res = await fetch(server.url + path, init)
  return [res.status, (await res.text()).replaceAll(/[\\da-f]{8}-[-\\da-f]+|urn:request:[\\w-]+/g, 'uuid')]
}
const item = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"name":"first"}' }
const seen = {
  users: [await call('/users', item), await call('/users'), await call('/users/5')],
  orderItems: [
    await call('/order-items', item),
    await call('/order-items'),
    await call('/order-items/5', { method: 'DELETE' }),
  ],
  tenants: [await call('/tenants'), await call('/tenants', { headers: { 'x-tenant': 'acme' } })],
}
await clock.advanceTo('2026-01-05T12:00:00Z')
seen.crons = server.services.cron.jobs().map(({ name, counts }) => [name, counts.ok])
await mqtt.publish('doors/front', { value: 1 }, { qos: 1 })
const orders = memoryQueue('orders')
await orders.publish({ id: 'a' })
await orders.drained()
seen.flags = server.services.featureFlags.entries.length
await server.close()
console.log(JSON.stringify(seen))
`

let runner: Runner
let project: Project
let postgres: OwnServer | undefined
/** The tests of `init-database -t postgres` need a server. */
const environment = () => ({ DATABASE_URL: postgres?.url ?? 'sqlite::memory:' })
const reported = new Map<string, Awaited<ReturnType<Runner['run']>>>()

beforeAll(async () => {
  runner = startRunner()
  postgres = hasPostgres ? await startPostgres() : undefined
  project = makeProject(
    {
      // One run of the compiler for all names, those of the other folder, too.
      'tsconfig.json': JSON.stringify({ compilerOptions, include: ['src', 'awkward/src'] }),
      'legacy.json': JSON.stringify({
        extends: './tsconfig.json',
        compilerOptions: { experimentalDecorators: true },
        include: ['src'],
      }),
      'awkward/package.json': '{ "name": "awkward", "private": true, "type": "module" }',
      'src/server.ts': server,
    },
    peers,
  )
  for (const [command, argv] of scaffolds) {
    reported.set([command, ...argv].join(' '), await runner.run(project.folder, [command, ...argv]))
  }
  reported.set('package', await runner.run(project.folder, ['generate-plugin', 'audit-trail', '--package']))
  symlinkSync(join(project.folder, 'node_modules'), join(project.folder, 'audit-trail/node_modules'), 'junction')
  await generateAwkward(join(project.folder, 'awkward'))
})
afterAll(async () => {
  runner.close()
  project.remove()
  await postgres?.stop()
})

/** Generates files whose names templates, tests or the language use themselves, into a project of its own, which is compiled with the other. */
async function generateAwkward(folder: string): Promise<void> {
  const commands = scaffolds.map(([command]) => command).filter((command) => /^generate-(?!mqtt)/.test(command))
  for (const command of new Set(commands)) {
    for (const name of awkwardNames) {
      const { code, stderr } = await runner.run(folder, [command, name])
      // A plugin may not take the place of one of the framework's, and neither may a command.
      if (code !== 0) expect(stderr).toMatch(/^the framework has a plugin or service \w+: choose another name/)
    }
  }
  for (const name of awkwardNames) await runner.run(folder, ['generate-mqtt', `a/${name}`, '--name', name, '--class'])
}

const sourcesIn = (folder: string) =>
  readdirSync(join(folder, 'src'), { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))
const testsIn = (folder: string) => sourcesIn(folder).filter((file) => file.endsWith('.test.ts'))

test.each(
  scaffolds.map(([command, argv, files]) => [[command, ...argv].join(' '), files] as const),
)('%s', (typed, files) => {
  const { code, stdout, stderr } = reported.get(typed)!
  // Those of the environment follow, where there are variables, and have a test of their own.
  const own = stdout.replaceAll(/^(created|updated) {2}(src\/env\.ts|\.env(\.\w+)?|\.gitignore|package\.json)\n/gm, '')
  const expected = files.filter((file) => file !== '.gitignore').map((file) => `created  ${file}\n`)
  expect([code, own]).toEqual([0, expected.join('')])
  for (const file of files) expect(existsSync(join(project.folder, file)), file).toBe(true)
  expect(stderr, 'what is left to do').not.toBe('')
})

// The rest starts compilers, runtimes and test runners, each in a process of its own, several at a time.
test.concurrent.each([
  ['of the standard', '.'],
  ['of TypeScript', 'legacy.json'],
])('all of it compiles under strict, against the types of the package, with decorators %s', async (_which, config) => {
  expect(sourcesIn(join(project.folder, 'awkward')).length).toBeGreaterThan(150)
  expect((await startTsc(['-p', config], project.folder)).output).toBe('')
})

test.concurrent('it is formatted as the documentation is, its imports are sorted, and no linter has anything to say', async () => {
  const { $schema: _, vcs: __, ...config } = JSON.parse(readFileSync(join(root, 'biome.json'), 'utf8'))
  project.write({ 'biome.json': JSON.stringify(config) })
  const biome = join(root, 'node_modules/@biomejs/biome/bin/biome')
  const { stdout, stderr } = await runIn(project.folder, [
    process.execPath,
    biome,
    'check',
    '--max-diagnostics=20',
    'src',
  ])
  expect(`${stdout}${stderr}`).toMatch(/^Checked \d+ files? in \S+ No fixes applied\.\s*$/)
})

// On Bun and Deno those of one or two; generate.long.test.ts has all.
describe.concurrent('the tests pass as they are', () => {
  // Those of projects with vitest pass in init-projects.test.ts. What the runner prints of each, without the log of the handlers.
  const failures = (output: string) => output.split('\n').filter((line) => /not ok|fail|Error/i.test(line))

  test('on Node.js, with node:test', async () => {
    // As JavaScript, and in one process: with one for each of them it takes half a minute. Bun and Deno run them as they are.
    for (const from of ['src', 'audit-trail/src', 'audit-trail/test'])
      await writeJavaScript(project, `tested/${from}`, from)
    const isOther = (path: string) => !path.endsWith('.ts')
    cpSync(join(project.folder, 'src'), join(project.folder, 'tested/src'), { recursive: true, filter: isOther })
    const all = [...testsIn(project.folder).map((file) => `src/${file}`), 'audit-trail/test/audit-trail.test.ts']
    const imports = all.map((file) => `await import('./tested/${file.replace(/ts$/, 'js')}')\n`)
    project.write({ 'all-tests.mjs': imports.join('') })
    const argv = ['--test', '--test-reporter=tap', 'all-tests.mjs']
    const ended = await runIn(project.folder, [process.execPath, ...argv], environment())
    expect(ended.code, failures(ended.stdout).join('\n')).toBe(0)
    const passed = Number(/^# pass (\d+)$/m.exec(ended.stdout)?.[1])
    expect(passed).toBeGreaterThanOrEqual(testsIn(project.folder).length)
    // Those that every plugin passes, and its own.
    expect(ended.stdout.match(/^ok .*audit-?trail/gim)).toHaveLength(13)
  })

  test('on Deno', async () => {
    const [deno] = commandOf(targets.find(({ name }) => name === 'deno')!)
    const more = ['mqtt/doors-front.test.ts', 'handlebars', 'plugins', 'auth', 'accounts']
    const files = ['controllers/order-items.test.ts', ...(isLong ? more : [])]
    const ended = await runIn(
      project.folder,
      [deno!, 'test', '-A', '--no-check', '--node-modules-dir=manual', ...files.map((file) => `src/${file}`)],
      { ...environment(), NO_COLOR: '1' },
    )
    expect(ended.code, `${failures(ended.stdout).join('\n')}\n${ended.stderr}`).toBe(0)
    expect(ended.stdout).toMatch(/ok \| \d+ passed \| 0 failed/)
  })

  const portable = scaffolds.filter(([command]) =>
    isLong ? command !== 'generate-cron' : command === 'generate-queue' || command === 'generate-controller',
  )

  test('on Bun, with bun:test', async () => {
    const other = makeProject({ 'bun.lock': '' }, peers)
    for (const [command, argv] of portable) {
      expect((await runner.run(other.folder, [command, ...argv])).code, command).toBe(0)
    }
    expect(readFileSync(join(other.folder, 'src/queues/orders.test.ts'), 'utf8')).toContain("from 'bun:test'")
    const [bun] = commandOf(targets.find(({ name }) => name === 'bun')!)
    // By default, Bun gives up after 5 s.
    const ended = await runIn(other.folder, [bun!, 'test', '--timeout', '120000'], environment())
    expect(ended.code, failures(ended.stderr).join('\n')).toBe(0)
    expect(ended.stderr).toMatch(/^ 0 fail$/m)
    other.remove()
  })
})

test.concurrent('the framework finds generated files itself, and everything works in a server that listens', async () => {
  // As JavaScript: a loader would take longer than the rest.
  const built = join(project.folder, 'built')
  const environment = readFileSync(join(project.folder, '.env'), 'utf8')
  project.write({ 'built/package.json': '{ "type": "module" }', 'built/.env': environment, 'built/src/main.js': main })
  await writeJavaScript(project, 'built/src')
  const ended = await runIn(built, [process.execPath, '--no-warnings', 'src/main.js'])
  // What the jobs and subscribers say of their work, and no warning.
  const said = ended.stderr.trim().split('\n')
  expect(said.filter((line) => !/^\{"level":30,.*"msg":"(?:at work|received)"\}$/.test(line))).toEqual([])
  const lines = ended.stdout.trim().split('\n')
  const one = '{"id":"uuid","name":"first"}'
  // What is thrown has the form that the server gives all failures.
  const problem = (status: number, title: string, detail: string, code: string) =>
    JSON.stringify({ type: 'about:blank', title, status, detail, instance: 'uuid', code })
  const noItem = problem(404, 'Not Found', 'There is no item 5', 'ITEM_NOT_FOUND')
  expect(JSON.parse(lines.at(-1)!)).toEqual({
    users: [
      [201, one],
      [200, `[${one}]`],
      [404, noItem],
    ],
    orderItems: [
      [201, one],
      [200, `[${one}]`],
      [404, noItem],
    ],
    tenants: [
      [400, problem(400, 'Bad Request', 'The header x-tenant is missing', 'HeaderMissing')],
      [200, '"acme"'],
    ],
    crons: [
      ['cleanup', 5],
      ['weekly-report', 6],
    ],
    flags: 1,
  })
  const messages = lines.slice(0, -1).map((line) => JSON.parse(line) as Record<string, unknown>)
  expect(messages).toContainEqual(expect.objectContaining({ msg: 'received', message: { value: 1 } }))
  expect(messages).toContainEqual(expect.objectContaining({ msg: 'orders', id: 'a', attempt: 1 }))
})

test.concurrent('a command runs by its name and is listed', async () => {
  const ended = await framework(project.folder, ['send-report', 'world', '--loud'])
  expect(ended).toEqual({ code: 0, stdout: 'HELLO WORLD\n', stderr: '' })
  const list = await framework(project.folder, ['list'])
  expect(list.stdout).toMatch(/^ {2}send-report +Greets someone/m)
})

describe.concurrent('a plugin as a package', () => {
  test('compiles, and is in order when it is packed; its tests pass with the others', async () => {
    const { code, stderr } = reported.get('package')!
    expect([code, stderr]).toEqual([0, expect.stringContaining('  cd audit-trail\n  npm install\n  npm test\n')])
    const folder = join(project.folder, 'audit-trail')
    const compilations = ['.', 'tsconfig.build.json'].map((config) => startTsc(['-p', config], folder))
    expect((await Promise.all(compilations)).map(({ output }) => output)).toEqual(['', ''])
    // In a copy without the packages: npm reads the manifests of all of them first.
    const copy = join(project.folder, 'audit-trail-copy')
    cpSync(folder, copy, { recursive: true, filter: (path) => !path.endsWith('node_modules') })
    const tarball = await pack(copy, copy)
    expect(filesOf(tarball).filter((path) => !/^dist\/.*(\.d\.ts|\.js)$/.test(path))).toEqual([
      'LICENSE',
      'README.md',
      'package.json',
    ])
    const { publint } = await import('publint')
    const bytes = readFileSync(tarball)
    const content = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer
    const { messages } = await publint({ pack: { tarball: content }, strict: true, level: 'suggestion' })
    expect(messages).toEqual([])
    if (isLong) await expectTypesToResolve(tarball, [], folder)
  })

  test('goes into packages/ where there is such a folder', async () => {
    const other = makeProject({ 'packages/.gitkeep': '' })
    const { stdout } = await runner.run(other.folder, ['generate-plugin', 'metering', '--package', '--dry-run'])
    expect(stdout).toMatch(/^would be created {2}packages\/metering\/package\.json$/m)
    expect(existsSync(join(other.folder, 'packages/metering'))).toBe(false)
    // A version that no registry has yet is taken from where the project has it.
    other.write({ 'package.json': '{ "dependencies": { "framework": "file:../framework-0.1.0.tgz" } }' })
    await runner.run(other.folder, ['generate-plugin', 'metering', '--package'])
    const { devDependencies } = JSON.parse(readFileSync(join(other.folder, 'packages/metering/package.json'), 'utf8'))
    expect(devDependencies[manifest.name]).toBe('file:../../../framework-0.1.0.tgz')
    other.remove()
  })
})

test.concurrent('a project with its server beside the package.json has its folders there, and the command prints the globs', async () => {
  const other = makeProject({ 'server.ts': '' })
  writeFileSync(join(other.folder, 'package.json'), '{ "dependencies": { "mqtt": "5" }, "packageManager": "pnpm@9" }')
  const run = (...argv: string[]) => runner.run(other.folder, argv)
  const cron = await run('generate-cron', 'cleanup')
  expect(cron.stdout).toBe('created  crons/cleanup.ts\ncreated  crons/cleanup.test.ts\n')
  expect(cron.stderr).toContain('pnpm add node-schedule@2\n')
  expect(cron.stderr).toContain("new Server({ plugins: { cron: { crons: ['crons/**/*.{ts,js}'] } } })\n")
  const mqtt = await run('generate-mqtt', 'a/b')
  expect(mqtt.stderr).toContain("import { env } from './env.ts'\n")
  expect(mqtt.stderr).toContain("{ url }, subscribe: ['mqtt/**/*.{ts,js}'] } } })\n")
  expect(mqtt.stdout).toContain('created  env.ts\n')
  expect(mqtt.stderr).not.toContain('pnpm add')
  expect((await run('init-storage', '-t', 's3')).stderr).toContain("import { storageOptions } from './storage.ts'\n")
  expect((await run('generate-controller', 'users', '--dir', '.')).stdout).toContain('created  users.ts\n')
  other.remove()
})

test.concurrent('--json has everything that is otherwise on standard error', async () => {
  const typed = ['generate-queue', 'invoices', '-t', 'bullmq', '--json', '--dry-run']
  const { code, stdout, stderr } = await runner.run(project.folder, typed)
  expect([code, stderr]).toEqual([0, ''])
  expect(JSON.parse(stdout)).toEqual({
    dryRun: true,
    files: ['', '.test'].map((end) => ({ path: `src/queues/invoices${end}.ts`, action: 'created' })),
    install: 'npm install bullmq@6 ioredis@6',
    next: expect.arrayContaining(["  import './queues/invoices.ts'"]),
  })
  expect(existsSync(join(project.folder, dirname('src/queues/invoices.ts'), 'invoices.ts'))).toBe(false)
})

test.concurrent('a dependency of a package that requires a later Node.js is pinned to an older version, once', async () => {
  const pins = { 'edge-lexer': '6.0.4', 'edge-parser': '9.1.0' }
  const withNpm = makeProject({ 'package.json': '{\n\t"name": "a",\n\t"overrides": { "edge-lexer": "7" }\n}\n' })
  const withPnpm = makeProject({ 'pnpm-lock.yaml': '', 'pnpm-workspace.yaml': 'overrides:\n  a: 1\n' })
  const read = ({ folder }: Project, file: string) => readFileSync(join(folder, file), 'utf8')
  for (const { folder } of [withNpm, withPnpm, withNpm, withPnpm])
    await runner.run(folder, ['init-mailer', '-t', 'edge'])
  expect(read(withNpm, 'package.json')).toBe(
    `${JSON.stringify({ name: 'a', overrides: { ...pins, 'edge-lexer': '7' } }, null, '\t')}\n`,
  )
  expect(read(withPnpm, 'pnpm-workspace.yaml')).toBe(
    "overrides:\n  'edge-lexer': '6.0.4'\n  'edge-parser': '9.1.0'\n  a: 1\n",
  )
  const { stderr } = await runner.run(withNpm.folder, ['init-queue', '-t', 'pgboss'])
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  expect(stderr).toContain(`npm install pg-boss@${major < 22 || (major === 22 && minor < 12) ? 10 : 12}\n`)
  withNpm.remove()
  withPnpm.remove()
})

test.concurrent.each([
  ['packages/a', { 'package-lock.json': '{}', 'packages/a/package.json': '{}' }, 'overrides in ../../package.json'],
  ['packages/a', { 'yarn.lock': '', 'packages/a/package.json': '{}' }, 'resolutions in ../../package.json'],
  ['packages/a', { 'pnpm-lock.yaml': '', 'packages/a/package.json': '{}' }, 'overrides in ../../pnpm-workspace.yaml'],
  ['', { 'pnpm-lock.yaml': '', 'pnpm-workspace.yaml': 'overrides: {}\n' }, 'overrides in pnpm-workspace.yaml'],
])('a pin that the command cannot write where it is read is a step: %s %j', async (folder, files, where) => {
  const project = makeProject(files)
  const { stdout, stderr } = await runner.run(join(project.folder, folder), ['init-mailer', '-t', 'edge'])
  expect(stderr).toContain(`Add to ${where}:\n  edge-lexer: 6.0.4\n  edge-parser: 9.1.0\n`)
  expect(stdout).not.toMatch(/package\.json|workspace/)
  project.remove()
})

test.concurrent('the test of a member of a workspace imports the test runner of its top', async () => {
  const manifests = { 'package.json': '{ "devDependencies": { "vitest": "4" } }', 'packages/a/package.json': '{}' }
  const project = makeProject({ ...manifests, 'package-lock.json': '{}' })
  await runner.run(join(project.folder, 'packages/a'), ['generate-middleware', 'tenant'])
  const made = join(project.folder, 'packages/a/src/middlewares/tenant.test.ts')
  expect(readFileSync(made, 'utf8')).toContain("from 'vitest'")
  project.remove()
})

test('pins have the indentation and the ends of lines of their file', () => {
  expect(pinnedWorkspace('overrides:\r\n\r\n    a: 1\r\n', [['b', '2']])).toBe(
    "overrides:\r\n\r\n    'b': '2'\r\n    a: 1\r\n",
  )
  const project = makeProject({ 'package.json': '\uFEFF{\r\n\t"name": "a"\r\n}\r\n' })
  expect(packageText(project.folder, { name: 'a' })).toBe('{\r\n\t"name": "a"\r\n}\r\n')
  project.remove()
})
