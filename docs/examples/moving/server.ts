import { definePlugin, HttpError, PolicyManager, proves, RouteCollection, Server } from 'framework'
import { z } from 'zod'
import { Books, UnknownBook } from './store.ts'

interface Reader {
  readonly name: string
}

declare module 'framework' {
  interface Request {
    reader?: Reader
  }
  interface Services {
    books: Books
  }
}

/** What handlers share is a service: `provide` makes one for each server. */
const books = definePlugin({ name: 'books', provide: () => ({ books: new Books() }) })

/** Finds out who is calling. The policies decide who may enter. */
const readers = definePlugin({
  name: 'readers',
  setup(ctx) {
    ctx.use(function findReader(req, _res, next) {
      if (req.headers.authorization === 'Bearer ada-token') req.reader = { name: 'ada' }
      return next()
    })
  },
})

const policies = new PolicyManager(
  { site: { known: proves<{ reader: Reader }>((reader) => reader !== undefined) } },
  { user: (req) => req.reader, challenge: 'Bearer' },
)

const NewBook = z.object({ title: z.string().min(1), year: z.int().optional() })

const routes = new RouteCollection()
routes.get('/books', (req) => req.server.services.get('books').list())
routes.get('/books/:id', (req) => req.server.services.get('books').find(req.params.id))
routes.post('/books', { body: NewBook }, (req, res) => {
  const book = req.server.services.get('books').add(req.body)
  req.log.info({ book: book.id }, 'book added')
  return res.created(book)
})
routes.get('/me', { policy: { manager: policies, scope: 'site', handler: 'known' } }, (req) => ({
  name: req.reader.name,
}))

export function makeServer(log: { write(line: string): void } = process.stdout) {
  const server = new Server({
    router: routes,
    plugins: { log: { stream: log }, books: books(), readers: readers() },
  })
  return server.setErrorHandler((_req, _res, next, error) => {
    if (error instanceof UnknownBook)
      return next(new HttpError(404, { code: 'BookNotFoundError', message: error.message }))
    return next()
  })
}
