import {
  defineError,
  type Middleware,
  type Query,
  type Request,
  type Response,
  reportFailure,
  UnsupportedMediaTypeError,
} from '../../kernel/index.ts'
import { type Check, checkOf, type Verdict } from '../shared/schema/check.ts'
import { keysOf } from '../shared/schema/keys.ts'
import { isStandardSchema, standardLists } from '../shared/schema/standard.ts'
import { type Part, parts } from './issues.ts'
import { mergedInput } from './merged.ts'
import { type FailedPart, type ValidationError, validationError } from './validation-error.ts'

/** The schemas of one route, by the part that they are for. */
export type InputSchemas = { readonly [Name in Part]?: object | undefined }

/** One part of one route: reads it, checks it, and stores the result. */
interface Step {
  readonly part: Part
  run(req: Request): Verdict | Promise<Verdict>
}

export const SchemaError = defineError(
  'SchemaError',
  (route: string, part: string, why: string) =>
    `the schema "${part}" of ${route} cannot be used: ${why}${why.endsWith('?') ? '' : '.'} It takes a JSON Schema, or a TypeBox, Zod or other Standard Schema`,
)

const missingBody: Verdict = {
  ok: false,
  issues: [{ path: '', keyword: 'required', message: 'must have a body', params: {} }],
  cause: undefined,
}

function compile(route: string, part: Part, schema: object): Step['run'] {
  const mode = part === 'headers' ? 'headers' : part === 'body' ? 'body' : 'text'
  const isStandard = isStandardSchema(schema)
  const check: Check = checkOf(schema, mode)
  const readQuery = isStandard ? queryReader(standardLists(schema)) : (query: Query) => query
  switch (part) {
    case 'headers':
      return (req) => check(isStandard ? req.headers : { ...req.headers })
    case 'params':
      return (req) => check(isStandard ? req.params : { ...req.params })
    case 'query':
      return (req) => check(readQuery(req.query))
    case 'body':
      // Another validator may accept a missing body; a JSON Schema describes an existing one.
      return isStandard ? (req) => check(req.body) : (req) => (req.body === undefined ? missingBody : check(req.body))
    case 'all': {
      const merge = mergedInput(keysOf(schema), !isStandard, readQuery)
      return (req) => merge(req, check)
    }
  }
  throw SchemaError(route, part, 'the request has no such part')
}

/**
 * Turns single members into lists where the schema expects lists: `?tag=a` and `?tag=a&tag=b` have one and two items.
 * Ajv coerces them by itself.
 */
function queryReader(lists: readonly string[]): (query: Query) => Query {
  if (lists.length === 0) return (query) => query
  return (query) => {
    let read = query
    for (const name of lists) {
      const value = query[name]
      if (value === undefined || Array.isArray(value)) continue
      if (read === query) read = Object.assign(Object.create(null) as Query, query)
      read[name] = [value]
    }
    return read
  }
}

/** Stores a validated value where the handler reads it. */
function store(req: Request, part: Part, value: unknown): void {
  switch (part) {
    case 'headers':
      // Into the request's own object: code that reads other headers after this finds them all.
      if (typeof value === 'object' && value !== null && value !== req.headers) Object.assign(req.headers, value)
      break
    case 'params':
      req.params = value as Request['params']
      break
    case 'query':
      req.query = value as Request['query']
      break
    case 'body':
      req.body = value
      break
    case 'all':
      ;(req as unknown as { validated: unknown }).validated = value
      break
  }
}

type Failed = FailedPart[] | undefined

/** Stores the result of a check: the value where the handler reads it, or its mistakes. */
function take({ part }: Step, verdict: Verdict, req: Request, failed: Failed): Failed {
  if (!verdict.ok) return [...(failed ?? []), { part, issues: verdict.issues, cause: verdict.cause }]
  store(req, part, verdict.value)
  return failed
}

/** Runs the steps in order; returns a promise only from the first asynchronous validator on. */
function runSteps(steps: readonly Step[], index: number, req: Request, before: Failed): Failed | Promise<Failed> {
  let failed = before
  for (let i = index; i < steps.length; i++) {
    const step = steps[i]!
    const verdict = step.run(req)
    if (verdict instanceof Promise) {
      return verdict.then((settled) => runSteps(steps, i + 1, req, take(step, settled, req, failed)))
    }
    failed = take(step, verdict, req, failed)
  }
  return failed
}

/**
 * The middleware that validates the input of one route; `fail` responds to an invalid request.
 *
 * @throws SchemaError, which names route and part, for a schema that cannot be compiled.
 */
export function inputMiddleware(
  route: string,
  schemas: InputSchemas,
  fail: (error: ValidationError, req: Request, res: Response) => unknown,
): Middleware {
  const steps = parts.flatMap((part): Step[] => {
    const schema = schemas[part]
    return schema === undefined ? [] : [{ part, run: compile(route, part, schema) }]
  })
  const refuse = (failed: FailedPart[], req: Request, res: Response) => {
    const error = validationError(failed)
    reportFailure(res, error)
    return fail(error, req, res)
  }
  const needsBody = schemas.body !== undefined || schemas.all !== undefined

  return function validation(req, res, next) {
    if (needsBody && req.body === undefined && req.raw.hasBody) {
      throw UnsupportedMediaTypeError('no active body parser supports the content type of this request')
    }
    const failed = runSteps(steps, 0, req, undefined)
    if (!(failed instanceof Promise)) return failed === undefined ? next() : refuse(failed, req, res)
    return failed.then((list) => (list === undefined ? next() : refuse(list, req, res)))
  }
}
