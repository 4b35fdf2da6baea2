import { type Route, toJson } from '../../kernel/index.ts'
import type { Responses } from '../responses/index.ts'
import { DecoratorError, decorator, type MethodMark } from '../shared/decorators/decorator.ts'
import { routeContributions } from '../shared/decorators/route-decorator.ts'
import { option } from '../shared/options/index.ts'
import type { ControllerMethod } from './verbs.ts'

/** The route option through which `@serialize` asks the plugin to serialise the responses of a route. */
export const serialized = Symbol('@serialize')

/** Options of `@serialize`. */
export interface SerializeOptions {
  /** Whether a response that does not match the schema is a failure, a 500, rather than only logged. Default false. */
  throwErrorOnValidationFail?: boolean
}

const serializeOptions = option
  .shape({ throwErrorOnValidationFail: option.flag().default(false) })
  .typed<SerializeOptions>()

/** The `@serialize` decorator of a method. */
export interface SerializeStep {
  readonly schema: object
  readonly strict: boolean
}

/**
 * Shapes the success responses (2xx) of a method: members that are not in the schema are never sent.
 *
 * A response that does not match the schema is sent as far as it matches, and that is logged.
 *
 * @deprecated Name the schema in the options of the route: `{ responses: { 200: schema } }`.
 * @example
 *   const User = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const
 *
 *   @controller('/users')
 *   class Users {
 *     @serialize(User, { throwErrorOnValidationFail: true })
 *     @get('/first')
 *     first() {
 *       return { name: 'ada', password: 'secret' }
 *     }
 *   }
 */
export function serialize(schema: object, options?: SerializeOptions): MethodMark<ControllerMethod> {
  const { throwErrorOnValidationFail: strict } = serializeOptions.parse(options, 'serialize')
  return decorator<ControllerMethod>({
    name: 'serialize',
    method(on) {
      const given: unknown = schema
      if ((typeof given !== 'object' && typeof given !== 'function') || given === null || Array.isArray(given)) {
        throw DecoratorError('serialize', on.label, 'it takes a schema, which is an object')
      }
      const step: SerializeStep = { schema, strict }
      routeContributions.add(on, { decorator: 'serialize', options: { [serialized]: step }, adds: false })
    },
  })
}

/** Serialises the responses of a route with `@serialize`; the option `responses` takes precedence for the statuses that it names. */
export function serializeStep(
  route: Route,
  { schema, strict }: SerializeStep,
  service: Responses,
  warn: (error: Error, route: string) => void,
): void {
  const name = `${route.method} ${route.path}`
  const onMismatch = strict ? undefined : (error: Error) => warn(error, name)
  const succeeded = service.compile({ '2xx': schema }, { route: name, ...(onMismatch && { onMismatch }) })
  const named = route.options.responses ?? {}
  const exact = service.compile(named, { route: name })
  route.serializeWith((payload, status) => {
    if (Object.hasOwn(named, status)) return exact(payload, status)
    return status >= 200 && status < 300 ? succeeded(payload, status) : toJson(payload)
  })
}
