import { RouteCollection, Server } from 'framework'

const Book = {
  $id: 'Book',
  type: 'object',
  properties: { id: { type: 'string' }, title: { type: 'string' } },
  required: ['id', 'title'],
} as const
const NewBook = { type: 'object', properties: { title: { type: 'string' } }, required: ['title'] } as const
const Missing = { type: 'object', properties: { code: { const: 'BookNotFoundError' } }, required: ['code'] } as const
const Search = {
  type: 'object',
  properties: { words: { type: 'array', items: { type: 'string' } }, limit: { type: 'integer', default: 10 } },
} as const

const books = new Map([['1', { id: '1', title: 'Kindred' }]])
const routes = new RouteCollection()

routes.get('/books', { query: Search, responses: { 200: { type: 'array', items: Book } } }, (req, res) => {
  const { words = [], limit = 10 } = req.query
  res.ok([...books.values()].filter(({ title }) => words.every((word) => title.includes(word))).slice(0, limit))
})
routes.post('/books', { body: NewBook, responses: { 201: Book } }, (req, res) => {
  const book = { id: String(books.size + 1), title: req.body.title }
  books.set(book.id, book)
  res.created(book)
})
routes.get('/books/:id', { responses: { 200: Book, 404: Missing } }, (req, res) => {
  const book = books.get(req.params.id)
  if (book === undefined) return res.notFound({ code: 'BookNotFoundError' })
  return res.ok(book)
})
routes.put('/books/:id/cover', { upload: { maxFiles: 1 } }, (req) => ({ bytes: req.file('cover')?.size ?? 0 }))
routes.ws(
  '/books/:id/loans',
  {
    query: { type: 'object', properties: { reader: { type: 'string' } }, required: ['reader'] } as const,
    incoming: { lend: { type: 'object', properties: { days: { type: 'integer', minimum: 1 } }, required: ['days'] } },
    outgoing: {
      lent: { type: 'object', properties: { until: { type: 'string', format: 'date' } }, required: ['until'] },
    },
  } as const,
  {
    message(socket, { data }) {
      const until = new Date(Date.now() + data.days * 86_400_000).toISOString().slice(0, 10)
      socket.send({ type: 'lent', data: { until } })
    },
  },
)
routes.get('/files/*', (_req, res) => res.text('a file'))
routes.get('/events', (_req, res) => res.sse(events()))

async function* events() {
  yield { event: 'hello', data: 1 }
}

export const server = new Server({ router: routes, plugins: { upload: true, websocket: true, log: false } })
