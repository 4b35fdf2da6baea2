import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { root } from './support/cli.ts'
import { markdownBlocks } from './support/docs/blocks.ts'
import type { OwnServer } from './support/own-server.ts'
import { buildIfMissing } from './support/package/tarball.ts'
import { hasPostgres, startPostgres } from './support/postgres.ts'

// The recipe of Prisma runs with a client that Prisma has generated: this installs its packages (300 MB). `prisma migrate deploy` does not run here: its
// engine is a download that npm does not have.
const packages = ['prisma@7.10.1', '@prisma/client@7.10.0', '@prisma/adapter-pg@7.10.1', 'pg@8']
const run = promisify(execFile)
const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm'

const schema = `generator client {
  provider = "prisma-client"
  output   = "../generated/prisma"
}
datasource db {
  provider = "postgresql"
}
model Book {
  id    Int    @id @default(autoincrement())
  title String @unique
}
`
const script = `import { server } from './recipe.ts'

await server.ready()
const databases = server.services.get('databases')
const [client, prisma] = [databases.client('prisma'), databases.get('prisma')]
const pending = await databases.pendingMigrations('prisma')
await client.query('create table "Book" (id serial primary key, title text not null unique)')
const titles = async () => (await prisma.book.findMany({ orderBy: { title: 'asc' } })).map(({ title }) => title)
const add = (title, by = prisma) => by.book.create({ data: { title } })

await client.transaction(async () => {
  await add('Emma')
  await client.query('insert into "Book" (title) values ($1)', ['Persuasion'])
  // Its own transactions are savepoints: one that fails takes back only itself.
  await prisma.$transaction(async (tx) => {
    await add('Sanditon', tx)
    await add('Emma', tx)
  }).catch(() => {})
  await prisma.$transaction([add('Lady Susan')])
})
const committed = await titles()
const failed = await client.transaction(async () => {
  await add('Mansfield Park')
  await prisma.$transaction(async (tx) => add('Northanger Abbey', tx))
  throw new Error('no')
}).catch((error) => error.message)
const { size, idle } = client.counts
console.log(JSON.stringify({ pending, committed, failed, after: await titles(), taken: size - idle }))
await server.close()
process.exit(0)
`

describe.skipIf(!hasPostgres)('the recipe of Prisma', () => {
  let folder: string
  let postgres: OwnServer
  const write = (file: string, text: string) => {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), text)
  }
  beforeAll(async () => {
    buildIfMissing()
    folder = mkdtempSync(join(tmpdir(), 'framework-prisma-'))
    write('package.json', JSON.stringify({ private: true, type: 'module' }))
    const options = ['--ignore-scripts', '--no-audit', '--no-fund']
    await run(npm, ['install', ...options, ...packages], { cwd: folder })
    symlinkSync(root, join(folder, 'node_modules/framework'), 'junction')
    // The adapter asks whether the pool is one of its own copy of pg.
    rmSync(join(folder, 'node_modules/pg'), { recursive: true })
    symlinkSync(join(root, 'node_modules/pg'), join(folder, 'node_modules/pg'), 'junction')
    postgres = await startPostgres()
  }, 600_000)
  afterAll(async () => {
    await postgres?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  test('its queries and transactions belong to those of the framework', async () => {
    write('prisma/schema.prisma', schema)
    write('prisma/migrations/001_books/migration.sql', '')
    write(
      'prisma.config.ts',
      `export default { schema: 'prisma/schema.prisma', datasource: { url: '${postgres.url}' } }`,
    )
    // Any program: nothing of what runs here needs that engine, but without one, Prisma would download it.
    const env = { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, CHECKPOINT_DISABLE: '1' }
    await run(process.execPath, ['node_modules/prisma/build/index.js', 'generate'], { cwd: folder, env })
    const page = 'docs/recipes/prisma.md'
    const { code } = markdownBlocks(page, readFileSync(join(root, page), 'utf8'))[0]!
    write(
      'recipe.ts',
      code
        .replace('postgres://db.internal/shop', postgres.url)
        .replace(
          /^new Server\(\{ plugins: \{ database: \{/m,
          `export const server = new Server({ plugins: { database: { url: '${postgres.url}',`,
        ),
    )
    write('script.ts', script)
    const tsx = join(root, 'node_modules/tsx/dist/loader.mjs')
    const { stdout } = await run(process.execPath, ['--import', tsx, 'script.ts'], { cwd: folder })
    expect(JSON.parse(stdout)).toEqual({
      pending: ['001_books'],
      committed: ['Emma', 'Lady Susan', 'Persuasion'],
      failed: 'no',
      after: ['Emma', 'Lady Susan', 'Persuasion'],
      taken: 0,
    })
  })
})
