import { type Decorated, DecoratorError, decorator, type MethodMark } from '../toolkit/decorator/decorator.ts'
import { routeContributions } from '../toolkit/decorator/route-decorator.ts'
import { deprecation } from '../toolkit/deprecation.ts'
import { option } from '../toolkit/options/index.ts'
import { checks } from './markers.ts'
import type { ControllerMethod } from './verbs.ts'

/** The answer of one route to an invalid request, in place of the server's. */
export interface CustomError {
  /** The status of the answer, from 400 to 599. Default 400. */
  status?: number
  /** The message in the body. Default `validation failed`. */
  message?: string
}

/** Further options of the short forms. */
export interface ValidateOptions {
  /** What a request that is not valid is answered with. Default: what the server answers. */
  customError?: CustomError
}

/** Schemas of the parts of a request: JSON Schema, TypeBox, Zod, or another Standard Schema. */
export interface ValidateSchemas extends ValidateOptions {
  /** The schema of the parsed body. */
  body?: object
  /** The schema of the query. */
  query?: object
  /** The schema of headers, query and body as one object, which is found at `req.validated`. */
  all?: object
}

/** One `@validate` of a method. */
export interface ValidateStep {
  readonly schemas: Readonly<Pick<ValidateSchemas, 'body' | 'query' | 'all'>>
  readonly customError: CustomError | undefined
}

type OneSchema = (schema: object, options?: ValidateOptions) => MethodMark<ControllerMethod>

/** The decorator `@validate`, with a short form for each part. */
export interface Validate {
  (schemas: ValidateSchemas): MethodMark<ControllerMethod>
  /** The body alone: short for `@validate({ body: schema })`. */
  readonly body: OneSchema
  /** The query alone: short for `@validate({ query: schema })`. */
  readonly query: OneSchema
  /** Headers, query and body as one object: short for `@validate({ all: schema })`. */
  readonly all: OneSchema
}

const parts = ['body', 'query', 'all'] as const
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
  const schemas: ValidateStep['schemas'] = Object.fromEntries(
    parts.flatMap((part) => (all[part] === undefined ? [] : [[part, all[part]]])),
  )
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
  (part: (typeof parts)[number]): OneSchema =>
  (schema, options) =>
    makeValidate({ [part]: schema, ...onlyOptions.parse(options, `validate.${part}`) })

/**
 * Validates requests of a method: `body`, `query`, or `all` three of body, query and headers together.
 *
 * A failure is answered as elsewhere on that server, or with `customError`: its status, and `{ code, message, errors }`.
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
