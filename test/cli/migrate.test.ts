import { afterAll, beforeAll, expect, test } from 'vitest'
import { framework } from '../support/cli/fresh.ts'
import { makeProject, type Project, framework as spawned } from '../support/cli.ts'

let project: Project
beforeAll(() => {
  project = makeProject(
    {
      'server.js': `import { Server, sqlMigrations } from 'framework'
const migrations = {
  ...sqlMigrations({ '001-books': 'create table books (title text)', [process.env.SECOND ?? '002-shelf']: 'create table shelf (row int)' }),
  seed: ({ database }) => database.query("insert into books values ('" + (process.env.BOOK ?? 'Emma') + "')"),
}
const reports = { url: 'sqlite:reports.sqlite', migrations: sqlMigrations({ '001-totals': 'create table totals (sum int)' }) }
export const server = new Server({ port: 0, host: '127.0.0.1', plugins: { database: { url: 'sqlite:' + process.env.FILE, migrations, named: { reports } } } })
server.get('/books', async (req) => (await req.database.query('select * from books')).rows)
`,
      'index.js': `import { server } from './server.js'\nawait server.listen()\n`,
      'worker.js': `import { cron, memoryQueue } from 'framework'
export { server } from './server.js'
await memoryQueue('books').subscribe(() => {})
cron('0 0 * * *', { name: 'nightly' }).start(() => {})
`,
      'none.js': `import { Server } from 'framework'\nexport const server = new Server()\n`,
      'seedless.js': `import { Server, sqlMigrations } from 'framework'
export const server = new Server({ plugins: { database: { url: 'sqlite::memory:', migrations: sqlMigrations({}) } } })
`,
    },
    ['node-sqlite3-wasm'],
  )
})
afterAll(() => project.remove())
const run = (argv: readonly string[] = [], env: NodeJS.ProcessEnv = {}) =>
  framework(project.folder, ['migrate', ...argv], { FILE: 'app.sqlite', ...env })

test('migrate runs what has not run, in every database, and --status lists it', async () => {
  const steps = 'main: 001-books\nmain: 002-shelf\nreports: 001-totals\n'
  expect(await run(['--status'])).toMatchObject({ code: 1, stdout: steps })
  expect(await run()).toMatchObject({ code: 0, stdout: steps })
  expect(await run()).toMatchObject({ code: 0, stdout: '', stderr: expect.stringContaining('No migration is pending') })
  expect(await run(['--status'])).toMatchObject({ code: 0, stdout: '' })
  expect(await run(['--seed'])).toMatchObject({ code: 0, stdout: 'main: seeded\n' })
  expect(await run(['--seed'], { BOOK: "O'Neill" })).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/the seed of the database "main" failed: .*syntax error/),
  })
})

test('a failed migration is reported, and nothing of its database is kept', async () => {
  const wrong = { FILE: 'wrong.sqlite', SECOND: '001-books"; drop table x' }
  expect(await run([], wrong)).toMatchObject({ code: 0 })
  // The table exists already, so the step under a new name fails.
  const failed = await run([], { FILE: 'wrong.sqlite', SECOND: '002-again' })
  expect(failed).toMatchObject({ code: 1, stderr: expect.stringContaining('already exists') })
})

test('an application without migrations, or without seeds, learns what to add', async () => {
  expect(await run(['--entry', 'none.js'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('none.js has no database with migrations'),
  })
  expect(await run(['--entry', 'seedless.js', '--seed'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('has no seeds'),
  })
})

test('cron-start and queue-start refuse to run before', async () => {
  const env = { FILE: 'worker.sqlite' }
  for (const command of ['cron-start', 'queue-start'])
    expect(await framework(project.folder, [command, '--entry', 'worker.js'], env)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('migrations of the database "main" have not run: 001-books, 002-shelf'),
    })
})

test('start refuses to listen before, and doctor warns', async () => {
  const env = { FILE: 'fresh.sqlite' }
  const started = await spawned(project.folder, ['start'], env)
  expect(started).toMatchObject({ code: 1 })
  expect(started.stderr + started.stdout).toContain('Run them: npm run framework -- migrate')
  const doctor = await framework(project.folder, ['doctor'], env)
  expect(doctor.stdout).toContain('migrations of the database "main" have not run: 001-books, 002-shelf')
})
