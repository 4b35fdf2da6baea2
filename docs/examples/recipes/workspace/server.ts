import { implement, RouteCollection, Server } from 'framework'
import { shop } from './contract.ts'

// apps/api
export function makeServer(options: { port?: number; host?: string } = {}) {
  const books = [{ id: '1', title: 'Kindred' }]
  const routes = new RouteCollection()
  implement(routes, shop, {
    listBooks: () => books,
    addBook(req) {
      const book = { id: String(books.length + 1), ...req.body }
      books.push(book)
      return book
    },
  })
  return new Server({ ...options, router: routes })
}
