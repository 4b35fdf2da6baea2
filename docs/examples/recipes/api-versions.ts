import { type Middleware, RouteCollection, Server } from 'framework'
import { z } from 'zod'

interface Book {
  readonly id: number
  readonly title: string
  readonly authors: readonly string[]
}
const books: readonly Book[] = [{ id: 1, title: 'Good Omens', authors: ['Terry Pratchett', 'Neil Gaiman'] }]

const V1 = z.object({ id: z.number(), title: z.string(), author: z.string() })
const V2 = z.object({ id: z.number(), title: z.string(), authors: z.array(z.string()) })

/** Says in each response since when a version is deprecated (RFC 9745), and when it ends (RFC 8594). */
const deprecated = (since: Date, end: Date, successor: string): Middleware =>
  function deprecated(_req, res, next) {
    res.setHeader('deprecation', `@${since.getTime() / 1000}`)
    res.setHeader('sunset', end.toUTCString())
    res.setHeader('link', `<${successor}>; rel="successor-version"`)
    return next()
  }

const routes = new RouteCollection()

// One application, two views of it: an old version is a translation at the edge, and never a second copy of the rules.
const old = deprecated(new Date('2026-06-01T00:00:00Z'), new Date('2027-06-01T00:00:00Z'), '/v2')
routes.group('/v1', [old], (v1) => {
  v1.get('/books', { responses: { 200: z.array(V1) } }, () =>
    books.map(({ authors, ...book }) => ({ ...book, author: authors.join(' and ') })),
  )
})
routes.group('/v2', (v2) => {
  v2.get('/books', { responses: { 200: z.array(V2) } }, () =>
    books.map((book) => ({ ...book, authors: [...book.authors] })),
  )
})

export const makeServer = () => new Server({ router: routes, plugins: { openapi: { public: true } } })
