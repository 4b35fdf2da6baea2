import {
  isOptions,
  type Method,
  type OptionChecks,
  type Request,
  type Response,
  type RouteOptions,
} from '../../kernel/index.ts'
import { DecoratorError, decorator, type MethodMark } from '../shared/decorators/decorator.ts'
import { Notes } from '../shared/decorators/notes.ts'
import { deprecation } from '../shared/failures/deprecation.ts'

/** A method that responds to requests; its parameters are those of a handler, or more specific types of them. */
// The type of a method, so that parameters such as `req: RouteRequest<'/users/:id'>` and `req: Request & { user: User }` fit.
export type ControllerMethod = { run(req: Request, res: Response): unknown }['run']

/** One route of a method, as declared by its decorator. */
export interface RouteNote {
  readonly method: Method
  readonly path: string
  readonly options: RouteOptions
}

export const routeNotes = new Notes<RouteNote>()

export const reportDeprecated = deprecation(
  'FRAMEWORK_DEP0001',
  'controllers (@controller, @get, @post and the others) are deprecated; register routes on the router: router.get(path, options, handler)',
)

/** Declares a route: takes its path under the prefix of the controller, and the same route options as the router. */
// `Options` has no default: with one, the parameters of functions among the options would not be typed from their context.
export type VerbDecorator = <const Options extends RouteOptions>(
  path: string,
  options?: Options & {
    readonly [Name in keyof Options & keyof OptionChecks<Options>]?: OptionChecks<Options>[Name]
  } & { readonly [Name in Exclude<keyof Options, keyof RouteOptions>]: never },
  ...more: never[]
) => MethodMark<ControllerMethod>

function verb(name: string, method: Method): VerbDecorator {
  return (path, ...rest) => {
    reportDeprecated()
    const given: unknown = path
    const place = typeof given === 'function' ? given.name || 'a member' : 'a method'
    if (typeof path !== 'string') throw DecoratorError(name, place, `it takes the path of the route: @${name}('/path')`)
    // By their number: options that are `undefined` because of a wrong import may be a guard.
    const [options = {}, ...more] = rest
    if (rest.length > 0 && !isOptions(rest[0])) {
      throw DecoratorError(name, place, `the options of ${path} are not an object: @${name}('/path', { … })`)
    }
    if (more.length > 0) throw DecoratorError(name, place, `it takes only a path and options: @${name}('/path', { … })`)
    return decorator<ControllerMethod>({ name, method: (on) => routeNotes.add(on, { method, path, options }) })
  }
}

/**
 * Makes a method respond to GET requests for a path.
 *
 * @deprecated Register the route on the router: `router.get(path, options, handler)`.
 * @example
 * @controller('/users')
 * export class Users {
 *   @get('/:id')
 *   find(req: RouteRequest<'/:id'>) {
 *     return { id: req.params.id }
 *   }
 * }
 */
export const get: VerbDecorator = verb('get', 'GET')
/**
 * Makes a method respond to POST requests for a path.
 *
 * @deprecated Register the route on the router: `router.post(path, options, handler)`.
 * @example
 * @controller('/users')
 * export class Users {
 *   @post('/')
 *   add(req: Request, res: Response) {
 *     return res.status(201).json(req.body)
 *   }
 * }
 */
export const post: VerbDecorator = verb('post', 'POST')
/**
 * Makes a method respond to PUT requests for a path.
 *
 * @deprecated Register the route on the router: `router.put(path, options, handler)`.
 * @example
 * @controller('/users')
 * export class Users {
 *   @put('/:id')
 *   replace(req: RouteRequest<'/:id'>) {
 *     return { id: req.params.id }
 *   }
 * }
 */
export const put: VerbDecorator = verb('put', 'PUT')
/**
 * Makes a method respond to PATCH requests for a path.
 *
 * @deprecated Register the route on the router: `router.patch(path, options, handler)`.
 * @example
 * @controller('/users')
 * export class Users {
 *   @patch('/:id')
 *   change(req: RouteRequest<'/:id'>) {
 *     return { id: req.params.id }
 *   }
 * }
 */
export const patch: VerbDecorator = verb('patch', 'PATCH')
/**
 * Makes a method respond to DELETE requests for a path.
 *
 * @deprecated Register the route on the router: `router.delete(path, options, handler)`.
 * @example
 * @controller('/users')
 * export class Users {
 *   @del('/:id')
 *   remove(_req: RouteRequest<'/:id'>, res: Response) {
 *     return res.noContent()
 *   }
 * }
 */
export const del: VerbDecorator = verb('del', 'DELETE')
