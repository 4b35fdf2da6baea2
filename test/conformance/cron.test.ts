import { execFile } from 'node:child_process'
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { transformSync } from 'esbuild'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isLong } from '../support/long.ts'
import { loadedBy } from '../support/package/loaded-packages.ts'
import { printedBy, runtimeKinds, type Target } from './targets.ts'

const root = join(import.meta.dirname, '../..')
const fixtures = join(import.meta.dirname, 'cron')
const used = runtimeKinds.filter((target) => target.adapter === undefined)
const protocols = ['standard', 'legacy'] as const
// In its own folder, as an application has it: types and code are those of the built package.
let folder: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'framework-cron-'))
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(root, join(folder, 'node_modules/framework'), 'junction')
  writeFileSync(join(folder, 'package.json'), '{ "type": "module", "dependencies": { "framework": "*" } }')
  copyFileSync(join(fixtures, 'run.mjs'), join(folder, 'run.mjs'))
  const source = readFileSync(join(fixtures, 'jobs.ts'), 'utf8')
  for (const protocol of protocols) {
    mkdirSync(join(folder, protocol))
    const compilerOptions = { experimentalDecorators: protocol === 'legacy', verbatimModuleSyntax: true }
    const { code } = transformSync(source, { loader: 'ts', target: 'es2022', tsconfigRaw: { compilerOptions } })
    writeFileSync(join(folder, protocol, 'jobs.js'), code)
  }
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const run = (target: Target, pattern: string) =>
  printedBy(target, join(folder, 'run.mjs'), [pattern], { cwd: folder, env: { TZ: 'UTC' } })

/** What a compiler has made of a form is the same on each runtime, so the suite has the older form once; controllers.test.ts has both on all of them. */
const formsOn = ({ name }: Target) => (isLong || name === 'node' ? protocols : protocols.slice(0, 1))

// Side by side: most of the time each of them waits for a second to pass.
describe.concurrent.each(used)('jobs on $name', (target) => {
  test.each(formsOn(target))('decorators of the form %s', async (protocol) => {
    expect(await run(target, `${protocol}/*.js`)).toEqual({
      names: ['Jobs.inherited', 'Jobs.nightly (@yearly)', 'failing', 'handle', 'nightly'],
      nights: [
        '2026-03-28T01:30:00.000Z',
        '2026-03-29T01:30:00.000Z',
        '2026-03-30T00:30:00.000Z',
        '2026-10-24T00:30:00.000Z',
        '2026-10-25T00:30:00.000Z',
        '2026-10-26T01:30:00.000Z',
      ],
      failedOnce: 1,
      underInject: 0,
      ran: true,
      afterClose: 0,
    })
  })
})

test.concurrent.each([
  [
    'the plugin booted',
    `const { Server } = await import('framework'); await new Server({ plugins: { cron: { crons: [] } } }).ready()`,
    [],
  ],
  [
    'jobs that run',
    `const { CronService } = await import('framework'); await (await CronService.run({ crons: [] })).stop()`,
    ['node-schedule'],
  ],
] as const)('with %s, only what is needed is loaded', async (name, code, needed) => {
  const file = join(folder, `${name.replaceAll(' ', '-')}.mjs`)
  writeFileSync(file, `${code}; export const x = 1`)
  const { packages } = await loadedBy(new URL(`file://${file}`).href, folder)
  const heavy = ['node-schedule', 'cronstrue', 'ioredis', 'pg', 'tinyglobby']
  expect(heavy.filter((one) => packages.includes(one))).toEqual(needed)
})

test.concurrent('a package that is needed and not installed is named, with how to install it', async () => {
  const bare = join(folder, 'bare')
  const modules = join(bare, 'node_modules')
  mkdirSync(join(modules, 'framework'), { recursive: true })
  // A copy: through a link the packages of this repository would be found.
  cpSync(join(root, 'dist'), join(modules, 'framework/dist'), { recursive: true })
  copyFileSync(join(root, 'package.json'), join(modules, 'framework/package.json'))
  const optional = new Set(['node-schedule', 'cronstrue', 'pg', 'ioredis'])
  for (const name of readdirSync(join(root, 'node_modules'))) {
    if (!optional.has(name)) symlinkSync(join(root, 'node_modules', name), join(modules, name), 'junction')
  }
  writeFileSync(
    join(bare, 'run.mjs'),
    `import { CronService, Server } from 'framework'
    import { testClock } from 'framework/testing'
    const reported = []
    const tell = (error) => reported.push((error.cause?.code === 'PeerMissingError' ? error.cause : error).message)
    await CronService.run({ crons: [] }).catch(tell)
    testClock()
    await CronService.run({ crons: [], lock: { redis: 'redis://127.0.0.1' } }).catch(tell)
    await CronService.run({ crons: [], lock: { postgres: 'postgres://127.0.0.1' } }).catch(tell)
    await new Server({ plugins: { cron: { crons: [], ui: true } } }).ready().catch(tell)
    await (await CronService.run({ crons: [] })).stop()
    console.log(JSON.stringify(reported))`,
  )
  const env = { ...process.env, NODE_OPTIONS: '', npm_config_user_agent: 'npm/11' }
  const { stdout } = await promisify(execFile)(process.execPath, ['run.mjs'], { cwd: bare, env })
  expect(JSON.parse(stdout)).toEqual([
    expect.stringMatching(/needs the package "node-schedule", .* Add it: npm install node-schedule@2$/),
    expect.stringMatching(/\(lock redis\) needs the package "ioredis"/),
    expect.stringMatching(/\(lock postgres\) needs the package "pg"/),
    expect.stringMatching(/needs the package "cronstrue"/),
  ])
})
