import { router } from 'framework'
import { policies } from '../policies.ts'
import { BookCard, BookCards, BookPage, BookQuery, NewBook } from '../schemas.ts'
import { bookViews } from '../views.ts'

router.group('/books', (books) => {
  const list = { query: BookQuery, responses: { 200: BookCards }, cache: { ttl: 60, tags: ['books'] } } as const
  books.get('/', list, async (req, res) => {
    const { author, limit } = req.query
    const found = (await req.library.books(author)).slice(0, limit)
    res.ok(await Promise.all(found.map((book) => bookViews.useVariant('card', book))))
  })

  const apidoc = { summary: 'One book', responses: { 404: { description: 'There is no such book' } } }
  const page = { apidoc, responses: { 200: BookPage }, cache: { ttl: 60, tags: ['book::id'] } } as const
  books.get('/:id', page, async (req, res) => {
    res.ok(await bookViews.useVariant('page', await req.library.book(req.params.id)))
  })

  const add = { handler: 'add', manager: policies, scope: 'books' } as const
  books.post('/', { policy: add, body: NewBook, responses: { 201: BookCard } }, async (req, res) => {
    const book = await req.library.add(req.body)
    res.header('location', `/books/${book.id}`).created(book)
  })

  const remove = { handler: 'remove', manager: policies, scope: 'books' } as const
  books.delete('/:id', { policy: remove, transaction: true }, async (req, res) => {
    await req.library.remove(req.params.id)
    res.noContent()
  })
})
