import { RouteCollection, Server, sqlMigrations } from 'framework'
import { z } from 'zod'

// A name becomes a first and a last name. While a deploy is under way, the old and the new version use the same table,
// so each step suits both. The steps are in four deploys; here they are side by side.
export const steps = {
  '001-people': 'create table people (id integer primary key, name text not null)',
  // Deploy 1 adds the columns, nullable. The old version does not know them.
  '002-first-name': 'alter table people add column first text',
  '003-last-name': 'alter table people add column last text',
  // Deploy 3, when no old version runs any more, fills the rows that it has written.
  '004-fill-names':
    "update people set first = substr(name, 1, instr(name || ' ', ' ') - 1), last = trim(substr(name, instr(name || ' ', ' ') + 1)) where first is null",
  // Deploy 4, when no version reads it any more, drops the old column.
  // '005-drop-name': 'alter table people drop column name',
}

/** Deploy 2: writes both forms, and reads whichever is there. */
export function makeServer() {
  const routes = new RouteCollection()
  const Person = z.object({ first: z.string(), last: z.string() })

  routes.post('/people', { body: Person }, async (req, res) => {
    const { first, last } = req.body
    await req.database.query('insert into people (name, first, last) values ($1, $2, $3)', [
      `${first} ${last}`,
      first,
      last,
    ])
    return res.created()
  })

  routes.get('/people', async (req) => {
    const { rows } = await req.database.query<{ name: string; first: string | null; last: string | null }>(
      'select name, first, last from people order by id',
    )
    return rows.map(({ name, first, last }) => ({
      first: first ?? name.split(' ')[0],
      last: last ?? name.split(' ').slice(1).join(' '),
    }))
  })

  return new Server({ router: routes, plugins: { database: { migrations: sqlMigrations(steps) } } })
}
