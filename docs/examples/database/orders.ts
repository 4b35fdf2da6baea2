import { definePlugin, HttpError, pgbossQueue, router } from 'framework'

const NewBook = {
  type: 'object',
  properties: { title: { type: 'string', minLength: 1 }, copies: { type: 'integer', minimum: 0, maximum: 10_000 } },
  required: ['title', 'copies'],
} as const

export const printing = pgbossQueue<{ order: string }>('printing')

router.post('/books', { body: NewBook }, async (req, res) => {
  const { title, copies } = req.body
  // The database decides: a check before the insert would leave time for another request between the two.
  const { rows } = await req.database.query<{ id: string }>(
    'insert into books (title, copies) values ($1, $2) on conflict (title) do nothing returning id',
    [title, copies],
  )
  if (rows[0] === undefined)
    throw new HttpError(409, { code: 'BookExistsError', message: `There is a book "${title}"` })
  return res.created({ id: rows[0].id })
})

const Id = { type: 'object', properties: { id: { type: 'integer' } } } as const

router.post('/books/:id/orders', { params: Id, transaction: true }, async (req, res) => {
  const { database, params } = req
  const { count } = await database.query('update books set copies = copies - 1 where id = $1 and copies > 0', [
    params.id,
  ])
  if (count === 0) throw new HttpError(409, { code: 'SoldOutError', message: 'There is no copy left' })
  const { rows } = await database.query<{ id: string }>('insert into orders (book) values ($1) returning id', [
    params.id,
  ])
  const order = rows[0]!.id
  // In the same transaction: an order that is stored is printed, and one that is not stored is not.
  await printing.publish({ order }, { retryLimit: 5, retryBackoff: true })
  return res.created({ order })
})

/** Prints orders; `print` stands in for a real printer. */
export const printer = definePlugin({
  name: 'printer',
  dependencies: ['queues'],
  async setup(ctx, { print }: { print: (order: string) => void }) {
    const handle = await printing.subscribe(({ order }) => print(order))
    ctx.onClose(() => handle.unsubscribe())
  },
})
