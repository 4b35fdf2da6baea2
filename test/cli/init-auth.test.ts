import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { hasChromium, startChromium, watch } from '../support/chromium.ts'
import { applicationOfPages } from '../support/cli/auth-pages.ts'
import { type Runner, startRunner } from '../support/cli/many.ts'
import { makeProject, type Project, root, runIn } from '../support/cli.ts'
import { isLong } from '../support/long.ts'
import { hasMariadb, startMariadb } from '../support/mariadb.ts'
import { hasPostgres, startPostgres } from '../support/postgres.ts'
import { runTsc } from '../support/typescript.ts'

const apps = {
  memory: { flags: [], tests: 17 },
  sqlite: { flags: ['--database', 'sqlite'], tests: 14 },
  postgres: { flags: ['--database', 'postgres'], tests: 14 },
  mysql: { flags: ['--database', 'mysql'], tests: 14 },
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
  const plugins = { csrf: true, urlencoded: true, rateLimit: true, auth: { schemes: { logins } }, mailer: mailOptions() } as const
  const server = await testServer(() => new Server({ router, plugins }))
  const post = (path: string, body: object) => server.inject.post(path, { body })
  const login = { mail: 'ada@example.org', password: 'correct horse battery' }
  await post('/auth/sign-up', { mail: login.mail })
  await server.settled()
  const token = /token=(.*)/.exec(server.emails.all[0]!.text!)![1]
  expect((await post('/auth/password', { ...login, token })).statusCode()).toBe(204)
  expect((await post('/auth/login', login)).statusCode()).toBe(200)
  await server.close()
})

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
  project = makeProject({}, ['vitest', 'typescript', 'jose', 'nodemailer', 'node-sqlite3-wasm', 'pg', 'mysql2'])
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
  const pages = ['frame', 'forgot-password', 'choose-password', 'ended', 'message'].map(
    (name) => `auth/pages/${name}.html`,
  )
  const modules = ['auth/auth.ts', 'auth/auth.test.ts', 'auth/accounts.ts', 'auth/pages.ts']
  const files = [...modules, ...pages, 'mailer.ts', 'mailer.test.ts']
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
        'log: logOptions, csrf: true, urlencoded: true, rateLimit: { limit: 300 }, auth: { schemes: { logins } }, mailer: mailOptions(),',
      )
    const imports = "import { addAuth } from './auth/auth.ts'\nimport { mailOptions } from './mailer.ts'\n"
    writeFileSync(join(project.folder, app, 'src/wired.ts'), imports + text)
  }
  const steps = "import { accountSteps } from './auth/accounts.ts'\nimport { steps } from './database.ts'\n"
  project.write({
    'memory/src/auth/hashes.test.ts': withHashes,
    'memory/src/pages.ts': applicationOfPages,
    'sqlite/src/steps.ts': `${steps}export const all = { ...steps, ...accountSteps }\n`,
    'tsconfig.json': JSON.stringify({ extends: './memory/tsconfig.json', include: ['*/src'] }),
  })
  expect(runTsc(['-p', 'tsconfig.json'], project.folder).output).toBe('')
})

const post = (url: string, body: object) =>
  fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })

async function expectTestsPass(app: keyof typeof apps, env: NodeJS.ProcessEnv = {}): Promise<void> {
  const vitest = join(root, 'node_modules/vitest/vitest.mjs')
  const { code, stdout, stderr } = await runIn(
    join(project.folder, app),
    [
      process.execPath,
      vitest,
      'run',
      '--pool=threads',
      '--no-isolate',
      '--reporter=json',
      '--testTimeout=120000',
      '--hookTimeout=120000',
    ],
    { LOG_LEVEL: 'silent', NODE_ENV: undefined, VITEST: undefined, CI: '', ...env },
  )
  const outcome = code === 0 ? (JSON.parse(stdout) as Record<string, number>) : stdout + stderr
  expect(outcome).toMatchObject({ numPassedTests: apps[app].tests, numTotalTests: apps[app].tests, success: true })
}

test.each(
  isLong ? (['memory', 'sqlite'] as const) : (['memory'] as const),
)('its tests pass with those of the project: %s', (app) => expectTestsPass(app))

test.skipIf(!hasPostgres)('its tests pass with those of the project: postgres', async () => {
  const postgres = await startPostgres()
  await expectTestsPass('postgres', { DATABASE_URL: postgres.url })
  await postgres.stop()
})

if (isLong)
  test.skipIf(!hasMariadb)('its tests pass with those of the project: mysql', async () => {
    const mariadb = await startMariadb()
    await expectTestsPass('mysql', { DATABASE_URL: mariadb.url })
    await mariadb.stop()
  })

test.skipIf(!hasChromium)('who has forgotten a password chooses another one in a browser', async () => {
  const folder = join(project.folder, 'memory')
  expect(await run('memory', 'build')).toMatchObject({ code: 0 })
  const env = { ...process.env, NODE_OPTIONS: '', NODE_ENV: 'development', LOG_LEVEL: 'silent' }
  const child = spawn(process.execPath, ['dist/pages.js'], { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] })
  const browser = await startChromium()
  try {
    const [line] = (await once(child.stdout, 'data')) as [Buffer]
    const url = String(line).trim()
    // A phone, without scripts.
    const page = await browser.newPage({ viewport: { width: 320, height: 568 }, javaScriptEnabled: false })
    const wrong = await watch(page, url)
    const linkOf = async () => {
      await page.goto(`${url}/auth/forgot-password`)
      await page.getByLabel('Email address').fill('ada@example.org')
      await page.getByRole('button').click()
      expect(await page.getByRole('heading').textContent()).toBe('Look into your inbox')
      let link = ''
      await expect.poll(async () => (link = await (await fetch(`${url}/link`)).text())).not.toBe('')
      return url + link
    }
    const save = async (password: string) => {
      await page.getByLabel('New password').fill(password)
      await page.getByRole('button', { name: 'Save the password' }).click()
      return page.getByRole('heading').textContent()
    }

    const link = await linkOf()
    await page.goto(link)
    const field = page.getByLabel('New password')
    expect(await page.getByLabel('Email address').inputValue()).toBe('ada@example.org')
    expect(await field.getAttribute('autocomplete')).toBe('new-password')
    expect(await page.getByRole('main').evaluate((main) => main.scrollWidth <= innerWidth)).toBe(true)
    expect(wrong).toEqual([])
    expect(await save('too short')).toBe('Choose a password')
    expect([await field.getAttribute('aria-invalid'), await field.inputValue()]).toEqual(['true', ''])
    expect(await page.getByRole('alert').textContent()).toBe('Type at least 12 characters, and at most 200.')
    expect(page.url()).toBe(`${url}/auth/choose-password`)
    expect(await save('correct horse battery')).toBe('Your password is saved')
    const login = { mail: 'ada@example.org', password: 'correct horse battery' }
    const { access_token: token } = (await (await post(`${url}/auth/login`, login)).json()) as { access_token: string }
    expect((await fetch(`${url}/auth/me`, { headers: { authorization: `Bearer ${token}` } })).status).toBe(200)

    // Used, and expired while the page was open.
    await page.goto(link)
    expect(await page.getByRole('heading').textContent()).toBe('This link has ended')
    await page.goto(await linkOf())
    await fetch(`${url}/later`)
    expect(await save('correct horse battery')).toBe('This link has ended')
    await page.getByRole('link').click()
    expect(await page.getByRole('heading').textContent()).toBe('Forgot your password?')
    expect(wrong.map((one) => one.slice(0, 3))).toEqual(['422', '401', '401'])
  } finally {
    await browser.close()
    child.kill()
  }
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
