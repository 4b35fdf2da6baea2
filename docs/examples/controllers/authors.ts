import { cache, controller, get, PolicyManager, type Request, serialize, validate } from 'framework'

const policies = new PolicyManager(
  { authors: { search: (member: string | undefined) => member === 'ada' } },
  { user: (req) => req.headers.authorization?.replace('Bearer ', '') },
)
const policy = policies.createDecorator()

const Authors = {
  type: 'array',
  items: { type: 'object', properties: { name: { type: 'string' }, books: { type: 'integer' } }, required: ['name'] },
}

/** The older form of routes: it is deprecated, and each of its decorators has a route option that replaces it. */
@controller('/authors')
export class AuthorController {
  readonly #books = new Map([
    ['Ursula K. Le Guin', 2],
    ['Italo Calvino', 1],
  ])

  @get('/')
  @cache({ ttl: 60, tags: ['books'] })
  @serialize(Authors)
  list() {
    return [...this.#books].map(([name, books]) => ({ name, books, collator: 'never leaves' }))
  }

  @get('/search')
  @policy('authors', 'search')
  @validate.query({ type: 'object', properties: { q: { type: 'string', minLength: 2 } }, required: ['q'] })
  @serialize(Authors)
  search(req: Request) {
    const wanted = String(req.query.q).toLowerCase()
    return this.list().filter(({ name }) => name.toLowerCase().includes(wanted))
  }
}
