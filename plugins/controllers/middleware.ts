import type { Middleware } from '../../kernel/index.ts'
import {
  type AnyClass,
  type ClassMark,
  DecoratorError,
  decorator,
  type MethodMark,
} from '../shared/decorators/decorator.ts'
import { Notes } from '../shared/decorators/notes.ts'
import { noteGuarded } from '../shared/decorators/route-decorator.ts'
import type { ControllerMethod } from './verbs.ts'

export const middlewareNotes = new Notes<readonly Middleware[]>()

/**
 * Adds middlewares to a method, or to every method of a controller; they run in the order in which they are written.
 *
 * The middlewares of a class run before policies, those of a method after them.
 *
 * @deprecated Use `router.group(prefix, middlewares, define)` and the route option `middlewares`.
 * @example
 *   const audit: Middleware = (req, res, next) => next()
 *
 *   @controller('/reports')
 *   class Reports {
 *     @middleware(audit)
 *     @get('/')
 *     list() {}
 *   }
 */
export function middleware(...middlewares: Middleware[]): ClassMark<AnyClass> & MethodMark<ControllerMethod> {
  const add = (on: { label: string } & Parameters<typeof middlewareNotes.add>[0]) => {
    if (middlewares.length === 0) throw DecoratorError('middleware', on.label, 'it takes at least one middleware')
    const wrong = middlewares.findIndex((one) => typeof one !== 'function')
    if (wrong !== -1) {
      throw DecoratorError('middleware', on.label, `argument ${wrong} is not a function (req, res, next)`)
    }
    middlewareNotes.add(on, middlewares)
  }
  return decorator<AnyClass, ControllerMethod>({
    name: 'middleware',
    class(on) {
      add(on)
      noteGuarded(on)
    },
    method: add,
  })
}
