import { type DatabaseClient, RouteCollection, Server, sqlMigrations } from 'framework'

const migrations = sqlMigrations({
  '001-orders': 'create table orders (id integer primary key, buyer text not null, note text)',
})

/** Writes a cell of RFC 4180. A spreadsheet runs what begins with one of these signs, so they get an apostrophe. */
function cell(value: string | number | null): string {
  const text = typeof value === 'string' ? value.replace(/^[=+\-@\t\r]/, "'$&") : String(value ?? '')
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Reads a thousand rows at a time, by the last id: the whole table is never in memory, and no cursor stays open. */
async function* csv(database: DatabaseClient, signal: AbortSignal): AsyncGenerator<string> {
  yield 'id,buyer,note\r\n'
  for (let last = 0; !signal.aborted; ) {
    const { rows } = await database.query<{ id: number; buyer: string; note: string | null }>(
      'select id, buyer, note from orders where id > $1 order by id limit 1000',
      [last],
    )
    if (rows.length === 0) return
    yield rows.map(({ id, buyer, note }) => `${cell(id)},${cell(buyer)},${cell(note)}\r\n`).join('')
    last = rows.at(-1)!.id
  }
}

const routes = new RouteCollection()
routes.get('/orders.csv', { timeout: false }, (req, res) => {
  // Ends when the client leaves, and when the server closes.
  const signal = AbortSignal.any([req.signal, req.server.closing])
  return res
    .type('text/csv; charset=utf-8')
    .header('content-disposition', 'attachment; filename="orders.csv"')
    .stream(csv(req.server.services.get('database'), signal))
})

export const makeServer = () => new Server({ router: routes, plugins: { timeout: true, database: { migrations } } })
