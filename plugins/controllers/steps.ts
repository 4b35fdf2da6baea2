import { type Middleware, type Route, sendFailure, toJson } from '../../kernel/index.ts'
import type { Responses } from '../responses/index.ts'
import { DecoratorError } from '../shared/decorators/decorator.ts'
import type { Validation } from '../validation/index.ts'
import type { SerializeStep } from './serialize.ts'
import type { CustomError, ValidateStep } from './validate.ts'

type Fail = Parameters<Validation['middleware']>[2]

/** Returns the middleware of one `@validate` decorator. */
export function validateStep(route: Route, { schemas, customError }: ValidateStep, service: Validation): Middleware {
  const name = `${route.method} ${route.path}`
  const needsBody = schemas.body !== undefined || schemas.all !== undefined
  if (needsBody && route.method === 'GET') {
    throw DecoratorError('validate', name, 'a GET request has no body; describe its query')
  }
  return service.middleware(name, schemas, customError === undefined ? undefined : failWith(customError))
}

function failWith({ status = 400, message = 'validation failed' }: CustomError): Fail {
  return (error, req, res) => sendFailure(req, res, error, { status, message, errors: error.errors })
}

/** Serialises the answers of a route with `@serialize`; the option `responses` takes precedence for the statuses that it names. */
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
