import { type DatabaseMigrations, sqlMigrations } from 'framework'

const steps = sqlMigrations({
  '001-library': [
    'create table books (id text primary key, title text not null, author text not null, added text not null)',
    `create table loans (
      id text primary key,
      book text not null unique references books (id),
      member text not null,
      since text not null
    )`,
  ],
})

const books = [
  ['1', 'The Dispossessed', 'Ursula K. Le Guin'],
  ['2', 'The Left Hand of Darkness', 'Ursula K. Le Guin'],
  ['3', 'Invisible Cities', 'Italo Calvino'],
]

/** The tables of the library, which SQLite and Postgres understand alike, and the first books of an empty one. */
export const tables: DatabaseMigrations = {
  ...steps,
  async seed({ database }) {
    const { rows } = await database.query('select 1 from books limit 1')
    if (rows.length > 0) return
    // Several processes may start at once.
    const text = `insert into books (id, title, author, added) values ($1, $2, $3, '') on conflict (id) do nothing`
    for (const book of books) await database.query(text, book)
  },
}
