import { HttpError, RouteCollection, Server, sqlMigrations } from 'framework'

/** MySQL commits each of them alone, so each is one statement: what fails half way would stay. */
const migrations = sqlMigrations({
  '001-books': 'create table books (id int primary key, title varchar(100) not null, copies int not null)',
  '002-orders':
    'create table orders (id int auto_increment primary key, book int not null, foreign key (book) references books (id))',
})

const routes = new RouteCollection()
routes.get('/books/:id', async (req) => {
  const { rows } = await req.database.query('select id, title from books where id = ?', [req.params.id])
  if (rows[0] === undefined) throw new HttpError(404)
  return rows[0]
})
// A deadlock, or a wait for a lock that takes too long, is tried again.
routes.post('/books/:id/orders', { transaction: { retry: 3 } }, async (req, res) => {
  const { database, params } = req
  const taken = await database.query('update books set copies = copies - 1 where id = ? and copies > 0', [params.id])
  if (taken.count === 0) throw new HttpError(409, { code: 'SoldOutError' })
  const { insertId } = await database.query('insert into orders (book) values (?)', [params.id])
  return res.created({ order: insertId })
})

export const makeServer = (url: string) =>
  new Server({ router: routes, plugins: { health: true, database: { url, migrations } } })
