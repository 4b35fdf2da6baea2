// What must go on compiling: programs as people write them.
import {
  definePlugin,
  type Handler,
  type Middleware,
  PolicyManager,
  type Response,
  type RouteOptions,
  type Routes,
  router,
  Server,
  type ServerOptions,
} from 'framework'
import { type TSchema, Type } from 'typebox'
import { z } from 'zod'

declare const options: RouteOptions
declare const handler: Handler
router.get('/a', options, handler)
router.post('/a', { ...options, cache: false }, handler)
export function crud<T extends z.ZodType>(name: string, schema: T) {
  router.post(`/${name}`, { body: schema, responses: { 201: schema } }, (req, res) => {
    res.status(201)
    return req.body as never
  })
  router.get(`/${name}/:id`, { responses: { 200: z.array(schema) } }, () => [] as never)
}
export function crud2<T extends TSchema>(name: string, schema: T) {
  router.post(`/${name}`, { body: schema }, (req) => req.body)
}
const shared = { responses: { 200: z.object({ a: z.string() }), 404: z.object({}) } } as const
router.get('/b', shared, () => ({ a: 'x' }))
router.get('/b', { ...shared, apidoc: { summary: 'x' } }, async (_req, res) =>
  Math.random() > 1 ? res.notFound({}) : { a: 'x' },
)
router.get('/b', shared, (_req, res) => {
  if (posts.length > 2) {
    res.notFound({})
    return
  }
  res.ok({ a: 'x' })
})
router.get('/b', shared, (_req, res) => res)
router.get('/b', shared, () => new Response('x') as never)
router.get('/b', shared, () => globalThis.fetch('x'))
router.get('/b', shared, async function* () {
  yield 'x'
})
router.get('/b', { responses: { 200: Type.Object({ at: Type.String({ format: 'date-time' }) }) } }, () => ({
  at: new Date().toISOString(),
}))
router.get(
  '/b',
  { responses: { 200: { type: 'object', properties: { at: { type: 'string', format: 'date-time' } } } } },
  () => ({ at: new Date() }),
)
router.get('/b', { responses: { 200: { type: 'string' } } }, () => 'x')
router.get('/b', { responses: { 200: { type: 'array', items: { enum: ['a', 'b'] } } } }, () => ['a', 'b'])
router.get(
  '/b',
  { responses: { 200: { type: 'object', properties: { kind: { const: 'x' }, n: { type: ['number', 'null'] } } } } },
  () => ({ kind: 'x', n: null }),
)
class Row {
  readonly id = 1
  readonly secret = 's'
  get name() {
    return 'x'
  }
}
router.get('/b', { responses: { 200: z.object({ id: z.number(), name: z.string() }) } }, () => new Row())
interface Post {
  id: number
  title: string
  author?: string | null
}
declare const posts: Post[]
router.get('/b', { responses: { 200: z.array(z.object({ id: z.number(), title: z.string() })) } }, () => posts)
router.get(
  '/b',
  { responses: { 200: Type.Object({ items: Type.Array(Type.Object({ id: Type.Number() })), total: Type.Number() }) } },
  async () => ({ items: posts, total: posts.length }),
)
router.delete('/b', { responses: { 204: { type: 'null' } } }, (_req, res) => res.noContent())
router.get('/c', { responses: { 500: z.object({}) } }, () => 5)
router.get('/b', { responses: {} }, () => 5)
const routes: Routes = router
routes.get('/x', { cache: { ttl: 1 } }, () => 1)
declare const verb: 'post' | 'put'
router[verb]('/x', { body: z.object({}) }, (req) => req.body)
export class App extends Server {
  constructor() {
    super({ port: 1, plugins: { cors: true } })
  }
}
export class App2 extends Server {
  constructor(o: ServerOptions) {
    super({ ...o })
  }
}
function make(plugins: ServerOptions['plugins']) {
  return new Server({ plugins, port: 0 })
}
export const s1: Server = new Server({ plugins: { cors: true } })
export const s2: Server = make({ cors: true })
const conditional = Math.random() > 1
new Server({
  plugins: {
    cors: conditional,
    session: conditional ? { secret: 'x' } : false,
    log: conditional && { logResponse: true },
  },
})
new Server({ plugins: [conditional && definePlugin({ name: 'x', setup() {} })()] })
new Server({ ...(conditional ? { port: 1 } : {}), plugins: { cors: { origin: (origin, req) => req.path === '/' } } })
const base = { port: 1, host: 'x' }
new Server({ ...base, plugins: { json: { sizeLimit: '1mb' } } })
new Server(base)
new Server({
  background: { queues: { run: true } },
  graphql: { schema: { typeDefs: 'x', resolvers: { Query: { a: (_p: unknown, _a: unknown, c) => 1 } } } },
})
export const servers: Server[] = [new Server({ plugins: { session: { secret: 'x' } } }), new Server()]
const mw: Middleware = (req, res, next) => next()
new Server({ plugins: [mw] }).group('/x', [mw], (r) => {
  r.get('/', () => 1)
})
new Server([mw, (req, res, next) => next()])

export function server2(this: void, o?: ConstructorParameters<typeof Server>[0]) {
  return o
}
async function getUser(res: Response) {
  return res.notFound()
}
router.get('/d', shared, (req, res) => getUser(res))

// Literals stay literals where a schema requires them.
const r1 = { 200: { type: 'array', items: { enum: ['a', 'b'] } } } as const
router.get('/1', { responses: r1 }, () => ['a', 'b'])
router.get('/2', { responses: r1 }, (req) => ['a', 'b'])
router.get('/3', { responses: r1 }, () => {
  return ['a', 'b']
})
router.get('/4', { responses: { 200: z.array(z.enum(['a', 'b'])) } }, () => ['a', 'b'])
router.get('/5', { responses: { 200: z.object({ kind: z.literal('x') }) } }, () => ({ kind: 'x' }))
router.get('/6', { responses: { 200: z.object({ kind: z.literal('x') }) } }, (req) => ({ kind: 'x' }))
router.get('/7', { responses: { 200: z.object({ kind: z.literal('x') }) } }, async () => ({ kind: 'x' }))
router.get('/8', { responses: { 200: z.object({ kind: z.literal('x') }) } }, async (req) => {
  return { kind: 'x' }
})
router.get('/9', { responses: { 200: z.literal('x') } }, () => 'x')

// Functions around a verb that are generic over the path.
export function read<const Path extends string>(path: Path, one: Handler<Path>, guards: Middleware[] = []) {
  router.get(path, one)
  router.get(path, { middlewares: guards }, one)
}
export function resource<const Path extends string>(path: Path, one: Handler<`${Path}/:id`>) {
  router.get(`${path}/:id`, one)
}
read('/users/:id', (req) => req.params.id)
resource('/users', (req) => req.params.id)

// Groups that are defined elsewhere, whatever they return.
const mount = (group: Routes) => group.get('/', handler)
const found: string[] = []
router.group('/teams/:team', mount)
router.group('/teams', (group) => {
  group.group('/:team', [mw], mount)
  return group
})
router.group('/teams', () => found.push('teams'))

// What is returned is read and never changed.
const frozen: readonly string[] = ['a']
const pair = ['a', 1] as const
router.get('/10', { responses: { 200: { type: 'array', items: { type: 'string' } } } }, () => frozen)
router.get(
  '/11',
  { responses: { 200: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'integer' }], items: false } } },
  () => pair,
)
router.get('/12', { responses: { 200: Type.Object({ tags: Type.Array(Type.String()) }) } }, (_req, res) =>
  res.json({ tags: frozen }),
)

// A group after a check knows what it proves.
const staff = new PolicyManager({
  site: { member: (user?: { id: string }): user is { id: string } => user !== undefined },
})
router.group('/staff', [staff.guard('site', 'member')], (group) => group.get('/me', (req) => req.user.id))
