import { checkOptions, OptionError, quoted } from '../../kernel/index.ts'
import { type Decorated, DecoratorError, decorator, type MethodMark } from '../toolkit/decorator/decorator.ts'
import { routeContributions } from '../toolkit/decorator/route-decorator.ts'
import { deprecation } from '../toolkit/deprecation.ts'
import { checks } from './markers.ts'
import type { ControllerMethod } from './verbs.ts'

/** What one route answers to a request that is not valid, in place of what its server does. */
export interface CustomError {
  /** From 400 to 599. Default 400. */
  status?: number
  /** Default `validation failed`. */
  message?: string
}

/** Further options of the short forms. */
export interface ValidateOptions {
  customError?: CustomError
}

/** Schemas of the parts of a request: JSON Schema, TypeBox, Zod, or another Standard Schema. */
export interface ValidateSchemas extends ValidateOptions {
  body?: object
  query?: object
  /** Of headers, query and body as one object, which is found at `req.validated`. */
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
  readonly body: OneSchema
  readonly query: OneSchema
  readonly all: OneSchema
}

const parts = ['body', 'query', 'all'] as const

function stepOf(given: ValidateSchemas, on: Decorated): ValidateStep {
  if (typeof given === 'object' && given !== null && 'headers' in given) {
    throw DecoratorError(
      'validate',
      on.label,
      "it takes no headers; name them in the route: @get('/path', { headers: schema })",
    )
  }
  checkOptions('validate', given, [...parts, 'customError'])
  const schemas: ValidateStep['schemas'] = Object.fromEntries(
    parts.flatMap((part) => (given[part] === undefined ? [] : [[part, given[part]]])),
  )
  if (Object.keys(schemas).length === 0) throw DecoratorError('validate', on.label, 'it names no schema')
  return { schemas, customError: checkCustomError(given.customError) }
}

function checkCustomError(given: CustomError | undefined): CustomError | undefined {
  if (given === undefined) return undefined
  checkOptions('validate.customError', given, ['status', 'message'])
  const { status, message } = given
  if (status !== undefined && (!Number.isInteger(status) || status < 400 || status > 599)) {
    throw OptionError('validate.customError.status', quoted(status), 'a whole number from 400 to 599')
  }
  if (message !== undefined && typeof message !== 'string') {
    throw OptionError('validate.customError.message', message, 'text')
  }
  return { status, message }
}

const reportDeprecated = deprecation(
  'FRAMEWORK_DEP0002',
  '@validate is deprecated; name the schemas in the options of the route: { body, query, headers, params, all }',
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
  (schema, options = {}) => {
    if (typeof options !== 'object' || options === null)
      throw OptionError(`validate.${part}`, options, '{ customError }')
    checkOptions(`validate.${part}`, options, ['customError'])
    return makeValidate({ [part]: schema, ...options })
  }

/**
 * Validates requests of a method: `body`, `query`, or `all` three of body, query and headers together.
 *
 * A failure is answered as everywhere on that server, or with `customError`: its status, and `{ code, message, errors }`.
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
