import {
  controller,
  get,
  type Middleware,
  middleware,
  PolicyManager,
  post,
  type Request,
  type Response,
  type RouteRequest,
  serialize,
  validate,
} from 'framework'

const Book = {
  type: 'object',
  properties: { id: { type: 'integer' }, title: { type: 'string' } },
  required: ['id', 'title'],
} as const
const NewBook = { type: 'object', properties: { title: { type: 'string' } }, required: ['title'] } as const

const policies = new PolicyManager(
  { library: { member: (key) => key === 'member' || key === 'staff', staff: (key) => key === 'staff' } },
  { user: (req) => req.headers['x-key'] },
)
const policy = policies.createDecorator()

const trace =
  (name: string): Middleware =>
  (_req, res, next) => {
    res.header('x-trace', [res.getHeader('x-trace'), name].flat().filter(Boolean).join(','))
    return next()
  }

@policy('library', 'member')
abstract class Shelf {
  readonly #made = Date.now()
  abstract readonly items: { id: number; title: string; secret?: string }[]

  @middleware(trace('route'))
  @get('/')
  @serialize(Book.properties.id.type === 'integer' ? { type: 'array', items: Book } : {})
  list() {
    return this.#made > 0 ? this.items : []
  }
}

@controller('/books')
@middleware(trace('controller'))
export class Books extends Shelf {
  static readonly first = 1
  items = [{ id: Books.first, title: 'Kindred', secret: 'shelf 7' }]

  @serialize(Book, { throwErrorOnValidationFail: true })
  @get('/:id')
  async find(req: RouteRequest<'/:id'>, res: Response) {
    if (req.params.id === 'broken') return { id: 'no number' }
    return this.items.find((book) => book.id === Number(req.params.id)) ?? res.notFound({ error: 'no such book' })
  }

  @policy('library', 'staff')
  @validate({ body: NewBook, customError: { status: 409, message: 'a book has a title' } })
  @post('/')
  add(req: Request, res: Response) {
    const { title } = req.body as { title: string }
    this.items.push({ id: this.items.length + 1, title, secret: '' })
    res.created({ id: this.items.length })
  }
}
