import { type DatabaseClient, defineCommand, definePlugin } from 'framework'

/** In the order in which they run. Never change one that has run anywhere: add another one instead. */
const steps = [
  {
    name: '001-books',
    sql: 'create table books (id bigint generated always as identity primary key, title text not null unique, copies int not null check (copies >= 0))',
  },
  {
    name: '002-orders',
    sql: 'create table orders (id bigint generated always as identity primary key, book bigint not null references books (id))',
  },
]

/** Runs the migrations that have not run yet, all of them or none, and returns their names. */
export function migrate(database: DatabaseClient): Promise<string[]> {
  return database.transaction(async () => {
    // When several instances start together, one of them migrates. The others wait here, and then find nothing to do.
    await database.query("set local statement_timeout = 0; set local lock_timeout = '10s'")
    await database.query('select pg_advisory_xact_lock(20260101)')
    await database.query(
      'create table if not exists migrations (name text primary key, at timestamptz not null default now())',
    )
    const { rows } = await database.query<{ name: string }>('select name from migrations')
    const missing = steps.filter(({ name }) => !rows.some((row) => row.name === name))
    for (const { name, sql } of missing) {
      await database.query(sql)
      await database.query('insert into migrations (name) values ($1)', [name])
    }
    return missing.map(({ name }) => name)
  })
}

export const migrateCommand = defineCommand({
  name: 'migrate',
  description: 'Brings the tables of the database up to date',
  async run({ boot, print }) {
    const { services } = await boot()
    const names = await migrate(services.get('database'))
    print(names.length === 0 ? 'nothing to do' : names.join('\n'))
  },
})

export const migrations = definePlugin({
  name: 'migrations',
  dependencies: ['database'],
  commands: async () => [migrateCommand],
})
