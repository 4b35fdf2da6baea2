import { mkdirSync, symlinkSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { globSync } from 'tinyglobby'
import { afterAll, describe, expect, test } from 'vitest'
import type { Reported } from '../../cli/doctor/view.ts'
import { framework } from '../support/cli/fresh.ts'
import { makeProject, type Project, runIn } from '../support/cli.ts'
import { freePort, listens } from '../support/own-server.ts'

const port = await freePort()
const made = Array.from({ length: 3 }, () => makeProject({ 'src/text.ts': '' }, ['ioredis', 'pg']))
// For all applications but those of the tests that count its files and that change its manifest.
const [shared, counted, changed] = made as [Project, Project, Project]
afterAll(() => {
  for (const project of made) project.remove()
})

const plugin = (setup: string, more = '') => `import { definePlugin, Server } from 'framework'
const odd = definePlugin({ name: 'odd', ${more} setup(ctx) { ${setup} } })
export const server = new Server({ port: ${port}, host: '127.0.0.1', plugins: [odd()] })
server.get('/', () => 'hello')
`
const applications: Readonly<Record<string, string>> = {
  'exits-while-imported': `import 'framework'\nprocess.on('exit', () => console.log('bye'))\nprocess.exit(0)\n`,
  'exits-by-a-timer': `import { exit } from 'node:process'\nsetTimeout(() => exit(3), 1)\nawait new Promise(() => {})\n`,
  'exits-while-booted': plugin('ctx.onReady(() => process.exit(0))'),
  'exits-while-closed': plugin('ctx.onClose(() => process.exit(0))', 'doctor: async () => [check],').replace(
    'const odd',
    `const check = { code: 'odd.one', level: 'error', find: () => ({ problem: 'p', remedy: 'r' }) }\nconst odd`,
  ),
  'exits-while-examined': plugin('', 'doctor: async () => checks,').replace(
    'const odd',
    `const odds = { code: 'odd.one', level: 'error', find: () => ({ problem: 'p', remedy: 'r' }) }
const exits = { code: 'odd.two', level: 'error', find: () => new Promise(() => setTimeout(() => process.exit(0), 100)) }
const checks = [exits, odds]\nconst odd`,
  ),
  'prints-all-the-time': plugin('setInterval(() => console.log("tick"), 1)').concat(
    `console.log('tick')\nprocess.on('exit', () => process.stdout.write('bye\\n'))\n`,
  ),
  'throws-after-the-boot': plugin(
    'ctx.onReady(() => void setTimeout(() => { throw new Error("lost") }, 100))',
    `doctor: async () => [{ code: 'odd.slow', level: 'hint', find: () => new Promise((done) => setTimeout(done, 500)) }],`,
  ),
  'throws-during-the-boot': plugin(
    'ctx.onReady(() => new Promise(() => setTimeout(() => { throw new Error("lost") }, 1)))',
  ),
  'never-boots': plugin('ctx.onReady(() => new Promise(() => {}))'),
  'fails-to-close': plugin('ctx.onClose(() => { throw new Error("redis://:se/c@ret@h is gone") })'),
  'is-its-own-cause': plugin('ctx.onReady(() => { const error = new Error("odd"); error.cause = error; throw error })'),
  'listens-after-the-import': plugin(
    '',
    `doctor: async () => [{ code: 'odd.slow', level: 'hint', find: () => new Promise((done) => setTimeout(done, 500)) }],`,
  ).concat('setTimeout(() => server.listen().catch(() => {}), 50)\nvoid server.ready().then(() => server.listen())\n'),
}

async function doctor(app: Project, name: string, source: string, ...more: readonly string[]) {
  const entry = `src/${name}.js`
  app.write({ [entry]: source })
  // One that ends its process, or that goes on after the report, has one of its own.
  const isAlone = /exit\(|setInterval|setTimeout|Redis/.test(source)
  const argv = ['doctor', '--json', '--entry', entry, ...more]
  const command = [process.execPath, 'node_modules/framework/dist/cli/index.js']
  const { code, stdout, stderr } = isAlone
    ? await runIn(app.folder, [...command, ...argv], { NODE_ENV: undefined })
    : await framework(app.folder, argv, { NODE_ENV: undefined })
  expect(() => JSON.parse(stdout), stdout + stderr).not.toThrow()
  const { findings } = JSON.parse(stdout) as { findings: readonly Reported[] }
  return { code, stderr, found: findings.map(({ code, problem }) => `${code}: ${problem}`) }
}

describe.concurrent('there is a report, and nothing beside it, of an application that', () => {
  const ended = (name: string, code: number, when: string) =>
    `application.fails: src/${name}.js ended the process with code ${code} while it was ${when}`
  test.each([
    ['exits-while-imported', [ended('exits-while-imported', 0, 'imported')], 1],
    ['exits-by-a-timer', [ended('exits-by-a-timer', 3, 'imported')], 1],
    ['exits-while-booted', [ended('exits-while-booted', 0, 'booted')], 1],
    ['exits-while-closed', ['odd.one: p'], 1],
    ['exits-while-examined', ['odd.one: p', ended('exits-while-examined', 0, 'examined')], 1],
    ['prints-all-the-time', [], 0],
    [
      'throws-after-the-boot',
      ['application.fails: nothing catches an error: lost (src/throws-after-the-boot.js:2:LINE)'],
      1,
    ],
    [
      'throws-during-the-boot',
      ['application.fails: nothing catches an error: lost (src/throws-during-the-boot.js:2:LINE)'],
      1,
    ],
    ['never-boots', ['application.fails: src/never-boots.js has not booted after 1 s: a hook has not finished'], 1],
    ['fails-to-close', ['application.fails: the close hook of the plugin "odd" failed: redis://:***@h is gone'], 1],
    ['is-its-own-cause', ['application.fails: the plugin "odd" failed in a ready hook: odd'], 1],
  ] as const)('%s', async (name, expected, exitCode) => {
    // A boot takes seconds on a busy machine.
    const timeout = name === 'never-boots' ? '1' : '60'
    const { code, found, stderr } = await doctor(shared, name, applications[name]!, '--timeout', timeout)
    expect(found.map((one) => one.replace(/:\d+\)$/, ':LINE)'))).toEqual(expected)
    expect(code).toBe(exitCode)
    expect(stderr).not.toContain('se/c')
  })
})

/** `readdir` of newer versions of Node.js follows links, here to this repository. */
const filesOf = (cwd: string) => globSync('**', { cwd, dot: true, followSymbolicLinks: false }).length

test.concurrent('no server listens, also where the application says so after its import; no file is written', async () => {
  const name = 'listens-after-the-import'
  const before = filesOf(counted.folder)
  let wasOpen = false
  const watch = setInterval(async () => {
    wasOpen ||= await listens(port)
  }, 20)
  const { code, found } = await doctor(counted, name, applications[name]!)
  clearInterval(watch)
  expect(wasOpen).toBe(false)
  expect(found).toEqual([expect.stringMatching(/^application\.fails: .*calls server\.listen\(\)/)])
  expect(code).toBe(1)
  // The entry alone.
  expect(filesOf(counted.folder) - before).toBeLessThanOrEqual(1)
})

test.concurrent('a package whose manifest cannot be read leaves the other checks; links of a workspace are one copy', async () => {
  changed.write({
    'package.json': '{ "name": "app", "type": "module", "dependencies": { "broken": "*" } }',
    'node_modules/broken/package.json': '{ broken',
  })
  const { found } = await doctor(changed, 'plain', plugin(''))
  expect(found).toEqual([expect.stringMatching(/^doctor\.check-failed: package\.two-copies failed: .*cannot be read/)])
  const linked = join(changed.folder, 'linked')
  mkdirSync(join(linked, 'node_modules'), { recursive: true })
  symlinkSync(join(changed.folder, 'node_modules/framework'), join(linked, 'node_modules/framework'), 'junction')
  changed.write({ 'linked/package.json': '{ "name": "linked", "type": "module" }', 'linked/server.ts': plugin('') })
  const keep = ['--preserve-symlinks', '--preserve-symlinks-main']
  const command = [process.execPath, ...keep, 'node_modules/framework/dist/cli/index.js', 'doctor', '--json']
  const { stdout } = await runIn(linked, command, { NODE_ENV: undefined })
  expect(JSON.parse(stdout)).toEqual({ production: false, findings: [] })
})

test.concurrent('machines that say nothing are named, all within one wait, and a boot that fails blames no queue', async () => {
  const silent = createServer((socket) => void socket.on('error', () => {}))
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  const at = `127.0.0.1:${(silent.address() as { port: number }).port}`
  const source = (more: string) => `import { pgbossQueue, Server } from 'framework'
import { Redis } from 'ioredis'
pgbossQueue('emails')
export const server = new Server({
  background: { queues: { config: { pgboss: { connectionString: 'postgres://me:hunter2@${at}/x' } } } },
  plugins: {
    session: { secret: '0123456789abcdef', store: { redis: { client: new Redis('redis://me:hunter2@${at}') } } },
    rateLimit: { store: { redis: { url: 'redis://me:hunter2@${at}' } } },
    ${more}
  },
})
server.get('/', () => 'hello')
`
  // Each has time limits of its own, and on a busy machine another one may end first.
  const why = /: (Command timed out|Stream isn't writeable .*|timeout expired|no response within 4 s)$/
  const unasked = (check: string, where: string) =>
    `doctor.not-asked: ${check} could not be checked: ${where} at ${where.toLowerCase()}://${at}${where === 'Redis' ? '' : '/x'}`
  const [{ code, found, stderr }, failing] = await Promise.all([
    doctor(shared, 'silent', source('')),
    doctor(shared, 'silent-failing', source('channels: true'), '--no-network'),
  ])
  expect(found.map((one) => one.replace(why, ''))).toEqual([
    unasked('redis.clock', 'Redis'),
    unasked('postgres.clock', 'Postgres'),
  ])
  expect(code).toBe(0)
  expect(stderr).not.toContain('hunter2')
  expect(failing.found).toEqual([expect.stringContaining('application.fails: the plugin')])
  silent.close()
})
