import { cache, controller, get, type Request, serialize, validate } from 'framework'
import { policies } from '../policies.ts'

const policy = policies.createDecorator()

const Authors = {
  type: 'array',
  items: { type: 'object', properties: { name: { type: 'string' }, books: { type: 'integer' } }, required: ['name'] },
}

/** The older form of routes, for comparison: it is deprecated, and each of its decorators has a route option that replaces it. */
@controller('/authors')
export class AuthorController {
  @get('/')
  @cache({ ttl: 60, tags: ['books'] })
  @serialize(Authors)
  list(req: Request) {
    const counts = new Map<string, number>()
    for (const { author } of req.library.books()) counts.set(author, (counts.get(author) ?? 0) + 1)
    return [...counts].map(([name, books]) => ({ name, books, collator: 'never leaves' }))
  }

  @get('/search')
  @policy('loans', 'own')
  @validate.query({ type: 'object', properties: { q: { type: 'string', minLength: 2 } }, required: ['q'] })
  @serialize(Authors)
  search(req: Request) {
    const wanted = String(req.query.q).toLowerCase()
    return this.list(req).filter(({ name }) => name.toLowerCase().includes(wanted))
  }
}
