import { type Middleware, type Route, sendFailure } from '../../kernel/index.ts'
import { type Decorated, DecoratorError, decorator, type MethodMark } from '../shared/decorators/decorator.ts'
import { routeContributions } from '../shared/decorators/route-decorator.ts'
import { deprecation } from '../shared/failures/deprecation.ts'
import { option } from '../shared/options/index.ts'
import { defined } from '../shared/values/json.ts'
import type { Validation } from '../validation/index.ts'
import type { ControllerMethod } from './verbs.ts'

/** The route option through which `@validate` asks the plugin to validate a route. */
export const checks = Symbol('@validate')

/** The response of one route to an invalid request, which replaces that of the server. */
export interface CustomError {
  /** The status of the response, from 400 to 599. Default 400. */
  status?: number
  /** The message in the body. Default `validation failed`. */
  message?: string
}

/** Further options of `@validate` and its short forms. */
export interface ValidateOptions {
  /** The response to an invalid request. Default: the server's own response. */
  customError?: CustomError
}

/** Schemas of the parts of a request: JSON Schema, TypeBox, Zod, or another Standard Schema. */
export interface ValidateSchemas extends ValidateOptions {
  /** The schema of the parsed body. */
  body?: object
  /** The schema of the query. */
  query?: object
  /** The schema of headers, query and body as one object, which is available as `req.validated`. */
  all?: object
}

/** One `@validate` decorator of a method. */
export interface ValidateStep {
  readonly schemas: Readonly<Pick<ValidateSchemas, 'body' | 'query' | 'all'>>
  readonly customError: CustomError | undefined
}

type OneSchema = (schema: object, options?: ValidateOptions) => MethodMark<ControllerMethod>

/** The decorator `@validate`, with a short form for each part. */
export interface Validate {
  (schemas: ValidateSchemas): MethodMark<ControllerMethod>
  /** Validates only the body: short for `@validate({ body: schema })`. */
  readonly body: OneSchema
  /** Validates only the query: short for `@validate({ query: schema })`. */
  readonly query: OneSchema
  /** Validates headers, query and body as one object: short for `@validate({ all: schema })`. */
  readonly all: OneSchema
}

const schema = option.value<object>('a schema')
const customError = option
  .shape({
    status: option.int({ min: 400, max: 599 }),
    message: option.value<string>('text', (given) => typeof given === 'string'),
  })
  .typed<CustomError>()
  .optional()
const validateOptions = option.shape({ body: schema, query: schema, all: schema, customError })
const onlyOptions = option.shape({ customError })

function stepOf(given: ValidateSchemas, on: Decorated): ValidateStep {
  if (typeof given === 'object' && given !== null && 'headers' in given) {
    throw DecoratorError(
      'validate',
      on.label,
      "it takes no headers; describe them in the route: @get('/path', { headers: schema })",
    )
  }
  const { customError, ...all } = validateOptions.parse(given, 'validate')
  const schemas = defined(all)
  if (Object.keys(schemas).length === 0) throw DecoratorError('validate', on.label, 'it has no schema')
  return { schemas, customError }
}

const reportDeprecated = deprecation(
  'FRAMEWORK_DEP0002',
  '@validate is deprecated; put the schemas into the options of the route: { body, query, headers, params, all }',
)

function makeValidate(schemas: ValidateSchemas): MethodMark<ControllerMethod> {
  reportDeprecated()
  return decorator<ControllerMethod>({
    name: 'validate',
    method(on) {
      const step = stepOf(schemas, on)
      routeContributions.add(on, { decorator: 'validate', options: { [checks]: step }, adds: true })
    },
  })
}

const only =
  (part: keyof ValidateStep['schemas']): OneSchema =>
  (schema, options) =>
    makeValidate({ [part]: schema, ...onlyOptions.parse(options, `validate.${part}`) })

/**
 * Validates the requests of a method: `body`, `query`, or body, query and headers together (`all`).
 *
 * The response to a failure is that to any invalid request to the server, or with `customError`: its status, and `{ code, message, errors }`.
 *
 * @deprecated Name the schemas in the options of the route: `{ body, query, headers, params, all }`.
 * @example
 *   const NewUser = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const
 *
 *   @controller('/users')
 *   class Users {
 *     @validate({ body: NewUser, customError: { status: 400, message: 'no user' } })
 *     @post('/')
 *     add(req: Request) {
 *       return req.body
 *     }
 *   }
 */
export const validate: Validate = Object.assign(makeValidate, {
  body: only('body'),
  query: only('query'),
  all: only('all'),
})

/** Returns the middleware of one `@validate` decorator. */
export function validateStep(route: Route, { schemas, customError }: ValidateStep, service: Validation): Middleware {
  const name = `${route.method} ${route.path}`
  const needsBody = schemas.body !== undefined || schemas.all !== undefined
  if (needsBody && route.method === 'GET') {
    throw DecoratorError('validate', name, 'a GET request has no body; describe its query')
  }
  if (customError === undefined) return service.middleware(name, schemas)
  const { status = 400, message = 'validation failed' } = customError
  return service.middleware(name, schemas, (error, req, res) =>
    sendFailure(req, res, error, { status, message, errors: error.errors }),
  )
}
