import { router } from 'framework'
import { BookCards } from '../schemas.ts'
import { bookViews } from '../views.ts'

declare module 'framework' {
  interface SessionData {
    /** The books on the reading list of this visitor. */
    list: string[]
  }
}

// Every visitor has a list, members or not: it lives in the session.
router.group('/list', (list) => {
  list.get('/', { responses: { 200: BookCards } }, async (req, res) => {
    const ids = new Set(req.session.list)
    const books = (await req.library.books()).filter(({ id }) => ids.has(id))
    res.ok(await Promise.all(books.map((book) => bookViews.useVariant('card', book))))
  })

  list.put('/:id', async (req, res) => {
    const { id } = await req.library.book(req.params.id)
    req.session.list = [...new Set([...(req.session.list ?? []), id])]
    res.noContent()
  })

  list.delete('/:id', (req, res) => {
    req.session.list = (req.session.list ?? []).filter((id) => id !== req.params.id)
    res.noContent()
  })
})
