import {
  defineMiddleware,
  type Middleware,
  PolicyManager,
  RouteCollection,
  Server,
  type TypedMiddleware,
} from 'framework'
import type { Equal, Expect } from './expect.ts'

interface User {
  id: string
  role: 'admin' | 'member'
}

// A feature in a package of its own states what it needs, and the application passes what it has.
interface BooksOptions {
  readonly signedIn: TypedMiddleware<{ user: { id: string } }>
}
function books(server: Server, { signedIn }: BooksOptions): void {
  server.group('/books', [signedIn], (routes) => {
    routes.get('/mine', (req) => {
      type _user = Expect<Equal<typeof req.user.id, string>>
    })
  })
}

const server = new Server({ router: new RouteCollection() })
const user = defineMiddleware<{ user: User }>((req, _res, next) => {
  req.user = { id: 'ann', role: 'member' }
  return next()
})
const policies = new PolicyManager({ site: { member: (one?: User) => one !== undefined, open: () => true } })

books(server, { signedIn: user })
books(server, { signedIn: policies.guard('site', 'member') })
// @ts-expect-error it adds another member
books(server, { signedIn: defineMiddleware<{ account: User }>((_req, _res, next) => next()) })
// @ts-expect-error the type of its member is another one
books(server, { signedIn: defineMiddleware<{ user: { id: number } }>((_req, _res, next) => next()) })
// @ts-expect-error this check proves nothing
books(server, { signedIn: policies.guard('site', 'open') })

// What adds something is also a middleware that adds less, or nothing; never one that adds more.
export const less: TypedMiddleware<{ user: Pick<User, 'role'> }> = user
export const nothing: TypedMiddleware = user
export const plain: Middleware = user
// @ts-expect-error it does not add the role
export const more: TypedMiddleware<{ user: User }> = defineMiddleware<{ user: { id: string } }>((_req, _res, next) =>
  next(),
)

// The declared type gives a function its parameters.
export const declared: TypedMiddleware<{ user: User }> = (req, res, next) => {
  type _request = Expect<Equal<typeof req.user.role, User['role']>>
  return req.user.role === 'admin' ? next() : res.forbidden()
}

// A group is where handlers know what its middlewares add, also on a server and below its root.
server.group('/', [policies.guard('site', 'member')], (members) => {
  members.get('/me', (req) => {
    type _user = Expect<Equal<typeof req.user.role, User['role']>>
  })
})
server.use(policies.guard('site', 'member'))
// @ts-expect-error a statement cannot change the type of the server
server.get('/you', (req) => req.user.role)
