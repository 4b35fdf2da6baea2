import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Runner, startRunner } from '../support/cli/many.ts'
import { makeProject, type Project, root, runIn } from '../support/cli.ts'
import { hasPostgres, startPostgres } from '../support/postgres.ts'
import { runTsc } from '../support/typescript.ts'

const apps = {
  memory: { flags: [], tests: 14 },
  sqlite: { flags: ['--database', 'sqlite'], tests: 11 },
  postgres: { flags: ['--database', 'postgres'], tests: 11 },
  // A mailer that is already there stays.
  mailer: { flags: [], tests: 0 },
} as const

/** With the real hashes of passwords, which take seconds on a busy machine. */
const withHashes = `import { Server, RouteCollection } from 'framework'
import { testServer } from 'framework/testing'
import { expect, test, vi } from 'vitest'
import { mailOptions } from '../mailer.ts'
import { addAuth } from './auth.ts'

test('an account logs in with its password', async () => {
  const router = new RouteCollection()
  const logins = addAuth(router)
  const plugins = { rateLimit: true, auth: { schemes: { logins } }, mailer: mailOptions() } as const
  const server = await testServer(() => new Server({ router, plugins }))
  const post = (path: string, body: object) => server.inject.post(path, { body })
  const login = { mail: 'ada@example.org', password: 'correct horse battery' }
  await post('/auth/sign-up', { mail: login.mail })
  await server.settled()
  const token = /#token=(.*)/.exec(server.emails.all[0]!.text!)![1]
  expect((await post('/auth/password', { ...login, token })).statusCode()).toBe(204)
  expect((await post('/auth/login', login)).statusCode()).toBe(200)
  await server.close()
}, 60_000)

test.each(['http://localhost:3000/', 'localhost:3000'])('links need an address: %s', async (address) => {
  vi.resetModules()
  vi.stubEnv('APP_URL', address)
  const again = await import('./auth.ts')
  expect(() => again.addAuth(new RouteCollection())).toThrow('APP_URL takes an address without a / at its end')
  vi.unstubAllEnvs()
})
`

// One for all: each is a folder of it, and finds the packages above.
let project: Project
let runner: Runner
const reported = new Map<string, Awaited<ReturnType<Runner['run']>>>()
const run = (app: string, ...argv: string[]) => runner.run(join(project.folder, app), argv)
const read = (file: string) => readFileSync(join(project.folder, file), 'utf8')

beforeAll(async () => {
  runner = startRunner()
  project = makeProject({}, ['vitest', 'typescript', 'jose', 'nodemailer', 'node-sqlite3-wasm', 'pg'])
  for (const [app, { flags }] of Object.entries(apps)) {
    const { code, stderr } = await runner.run(project.folder, ['init', app, ...flags])
    expect([code, stderr]).toEqual([0, expect.stringContaining('Next:')])
  }
  await run('mailer', 'init-mailer', '-t', 'mustache')
  for (const app of Object.keys(apps)) reported.set(app, await run(app, 'init-auth'))
})
afterAll(() => {
  runner.close()
  project.remove()
})

test('it writes routes, accounts, a test, the mailer if there is none, and secrets', () => {
  const { code, stdout, stderr } = reported.get('memory')!
  const files = ['auth/auth.ts', 'auth/auth.test.ts', 'auth/accounts.ts', 'mailer.ts', 'mailer.test.ts']
  expect([code, stdout]).toEqual([0, expect.stringContaining(files.map((file) => `created  src/${file}\n`).join(''))])
  expect(stderr).toContain('npm install jose@6 nodemailer@')
  expect(stderr).toContain(
    'Accounts are in memory, which production refuses. For a database: npm run framework -- init-database',
  )
  expect(read('memory/.env')).toMatch(/^TOKEN_SECRET=[\w-]{64}\nAPP_URL=http:\/\/localhost:3000\n/m)
  expect(read('memory/.env.example')).toMatch(/^TOKEN_SECRET=\n/m)
  expect(reported.get('mailer')!.stdout).not.toContain('mailer')
  expect(reported.get('sqlite')!.stderr).toContain("  import { accountSteps } from './auth/accounts.ts'\n")
})

test('all of it compiles, wired as the remaining steps say', () => {
  for (const [app, of] of [
    ['memory', ''],
    ['sqlite', ', () => server'],
  ] as const) {
    const text = read(`${app}/src/server.ts`)
      .replace('// It does not', `const logins = addAuth(router${of})\n// It does not`)
      .replace(
        'log: logOptions,',
        'log: logOptions, rateLimit: { limit: 300 }, auth: { schemes: { logins } }, mailer: mailOptions(),',
      )
    const imports = "import { addAuth } from './auth/auth.ts'\nimport { mailOptions } from './mailer.ts'\n"
    writeFileSync(join(project.folder, app, 'src/wired.ts'), imports + text)
  }
  const steps = "import { accountSteps } from './auth/accounts.ts'\nimport { steps } from './database.ts'\n"
  project.write({
    'memory/src/auth/hashes.test.ts': withHashes,
    'sqlite/src/steps.ts': `${steps}export const all = { ...steps, ...accountSteps }\n`,
    'tsconfig.json': JSON.stringify({ extends: './memory/tsconfig.json', include: ['*/src'] }),
  })
  expect(runTsc(['-p', 'tsconfig.json'], project.folder).output).toBe('')
})

async function expectTestsPass(app: keyof typeof apps, env: NodeJS.ProcessEnv = {}): Promise<void> {
  const vitest = join(root, 'node_modules/vitest/vitest.mjs')
  const { code, stdout, stderr } = await runIn(
    join(project.folder, app),
    [process.execPath, vitest, 'run', '--pool=threads', '--no-isolate', '--reporter=json'],
    { LOG_LEVEL: 'silent', NODE_ENV: undefined, VITEST: undefined, CI: '', ...env },
  )
  const outcome = code === 0 ? (JSON.parse(stdout) as Record<string, number>) : stdout + stderr
  expect(outcome).toMatchObject({ numPassedTests: apps[app].tests, numTotalTests: apps[app].tests, success: true })
}

test.each(['memory', 'sqlite'] as const)('its tests pass with those of the project: %s', (app) => expectTestsPass(app))

test.skipIf(!hasPostgres)('its tests pass with those of the project: postgres', async () => {
  const postgres = await startPostgres()
  await expectTestsPass('postgres', { DATABASE_URL: postgres.url })
  await postgres.stop()
})

test('existing files stay, and what cannot be done is refused', async () => {
  writeFileSync(join(project.folder, 'memory/src/auth/auth.ts'), '// mine')
  expect(await run('memory', 'init-auth')).toEqual({
    code: 1,
    stdout: '',
    stderr: 'src/auth/auth.ts already exists: nothing was written; --force overwrites\n',
  })
  expect(read('memory/src/auth/auth.ts')).toBe('// mine')
  for (const [argv, code, why] of [
    [['-t', 'database'], 1, 'src/database.ts is missing: "framework init-database" writes it\n'],
    [['-t', 'databse'], 2, '--type takes database or memory, not "databse"; did you mean database?\n'],
    [['--dir', '../beside'], 2, expect.stringContaining('--dir "../beside" is outside')],
    [['--dir', 'src/server.ts'], 2, '--dir "src/server.ts" is a file\n'],
    [['users'], 2, expect.stringContaining('users')],
  ] as const)
    expect(await run('memory', 'init-auth', ...argv)).toEqual({ code, stdout: '', stderr: why })
})
