import {
  controller,
  del,
  get,
  type Middleware,
  middleware,
  PolicyManager,
  patch,
  post,
  put,
  type Request,
  type Response,
  type RouteRequest,
  type RouteResponse,
  Server,
  serialize,
  validate,
} from 'framework'

interface User {
  name: string
}
const pass: Middleware = (_req, _res, next) => next()
const policies = new PolicyManager({ site: { admin: () => true }, posts: { edit: () => true } })
const policy = policies.createDecorator()
const Name = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const

@controller('/users')
@policy('site', 'admin')
@policy('posts', 'edit')
@middleware(pass, pass)
export class Users {
  readonly name = 'users'

  @get('/') nothing() {}
  @get('/a') request(req: Request) {
    return req.id
  }
  @get('/:id') routeRequest(req: RouteRequest<'/:id'>, res: Response) {
    res.ok(req.params.id.length)
  }
  @post('/', { body: Name }) async typed(
    req: RouteRequest<'/', {}, { body: typeof Name }>,
    res: RouteResponse<{ responses: { 200: typeof Name } }>,
  ) {
    res.ok({ name: req.body.name })
  }
  @put('/') extended(req: Request & { user: User }) {
    return [this.name, req.user]
  }
  @policy('site', 'admin')
  @middleware(pass)
  @validate({ body: Name, query: Name, customError: { status: 400, message: 'no' } })
  @validate.query(Name, { customError: { status: 400 } })
  @validate.body(Name)
  @validate.all(Name)
  @serialize(Name)
  @serialize(Name, { throwErrorOnValidationFail: true })
  @patch('/', { policy: { manager: policies, scope: 'site', handler: 'admin' }, middlewares: [pass] })
  every() {}
  @del('/') remove(_req: Request, res: Response) {
    return res.noContent()
  }
  @get('/places', { middlewares: [(req, _res, next) => next(req.id)], cache: { include: { key: (req) => req.path } } })
  typedByTheirPlace() {}
}

// @ts-expect-error a controller is made, and an abstract class cannot be
@controller()
export abstract class Base {
  // @ts-expect-error takes something else than a request
  @get('/') wrong(id: number) {
    return id
  }
  // @ts-expect-error a handler has two parameters
  @get('/') three(_req: Request, _res: Response, next: () => void) {
    next()
  }
  // @ts-expect-error a field
  @get('/') field = 1
  // @ts-expect-error an accessor
  @get('/') get accessor() {
    return 1
  }
  // @ts-expect-error a method of the class itself
  @get('/') static all() {}
  // @ts-expect-error no path
  @get() path() {}
  // @ts-expect-error not called
  @get bare() {}
  // @ts-expect-error no such option
  @get('/', { midlewares: [] }) option() {}
  // @ts-expect-error no such check
  @get('/', { policy: { manager: policies, scope: 'site', handler: 'edit' } }) named() {}
  // @ts-expect-error for classes
  @controller('/') controller() {}
  // @ts-expect-error no such scope
  @policy('sites', 'admin') scope() {}
  // @ts-expect-error a check of another scope
  @policy('site', 'edit') check() {}
  // @ts-expect-error a field
  @policy('site', 'admin') secret = 1
  // @ts-expect-error no middleware
  @middleware('auth') middleware() {}
  // @ts-expect-error headers are for the route option
  @validate({ headers: Name }) headers() {}
  // @ts-expect-error no such option
  @serialize(Name, { strict: true }) strict() {}
}

// @ts-expect-error for methods
@get('/')
export class OnClass {}

// @ts-expect-error for methods
@validate({ body: Name })
export class Validated {}

// @ts-expect-error not called
@controller
export class NotCalled {}

// @ts-expect-error the prefix is text
@controller(1)
export class Prefix {}

// @ts-expect-error it is made without arguments
@controller()
export class Needs {
  constructor(readonly_: string) {
    void readonly_
  }
}

new Server({ controllerPatterns: ['a/*.ts'] }).getMockServer({ controllerPatterns: ['b/*.ts'] })
// @ts-expect-error a list
new Server({ controllerPatterns: 'a/*.ts' })
// @ts-expect-error no such option
new Server().getMockServer({ patterns: ['a/*.ts'] })
