import { router } from '../../kernel/index.ts'
import { type ClassMark, DecoratorError, decorator } from '../shared/decorators/decorator.ts'
import { type ControllerClass, declareController, withdrawController } from './mount.ts'
import { reportDeprecated } from './verbs.ts'

/**
 * Makes a class a controller: its decorated methods, including inherited ones, are routes under a prefix.
 *
 * The routes are added to the process-wide `router` as soon as the class is defined, with all its decorators, whatever
 * their order. One instance of the class is created for them, without
 * arguments.
 *
 * @deprecated Register routes on the router: `router.group(prefix, define)`.
 * @throws DecoratorError for a class that cannot be a controller; RoutePatternError and DuplicateRouteError, like the router.
 * @example
 *   @controller('/users')
 *   class Users {
 *     @get('/:id')
 *     find(req: RouteRequest<'/:id'>) {
 *       return { id: req.params.id }
 *     }
 *   }
 */
export function controller(prefix = '', ...more: never[]): ClassMark<ControllerClass> {
  reportDeprecated()
  const given: unknown = prefix
  if (typeof given !== 'string') {
    const place = typeof given === 'function' ? given.name || 'a class' : 'a class'
    throw DecoratorError('controller', place, `it takes a prefix or nothing: @controller('/prefix') or @controller()`)
  }
  if (more.length > 0) {
    throw DecoratorError('controller', 'a class', 'it takes only a prefix; middlewares go into @middleware(…)')
  }
  return decorator<ControllerClass>({
    name: 'controller',
    class: (on) =>
      // The type of the decorator ensures that the constructor needs no arguments; `mount` checks the rest.
      on.whenDefined(
        (cls) => declareController(cls as ControllerClass, prefix, router),
        (cls) => withdrawController(cls, router),
      ),
  })
}
