import {
  type Middleware,
  type Query,
  type Request,
  type Response,
  reportFailure,
  UnsupportedMediaTypeError,
} from '../../kernel/index.ts'
import type { Check, Verdict } from '../shared/schema/check.ts'
import { keysOf } from '../shared/schema/keys.ts'
import { isStandardSchema, standardLists } from '../shared/schema/standard.ts'
import { isPlain, put } from '../shared/values/json.ts'
import { type FailedPart, type Part, type ValidationError, validationError } from './validation-error.ts'

/** One part of one route: reads it and checks it. */
export interface Step {
  readonly part: Part
  readonly run: (req: Request) => Verdict | Promise<Verdict>
}

const refused = (keyword: string, message: string, params = {}): Verdict => {
  return { ok: false, issues: [{ path: '', keyword, message, params }], cause: undefined }
}
const missingBody = refused('required', 'must have a body')
const notAnObject = refused('type', 'the body must be an object', { type: 'object' })

/** How a part is read and checked. */
export function stepOf(part: Part, schema: object, check: Check): Step['run'] {
  const isStandard = isStandardSchema(schema)
  const readQuery = isStandard ? queryReader(standardLists(schema)) : (query: Query) => query
  if (part === 'headers') return (req) => check(isStandard ? req.headers : { ...req.headers })
  if (part === 'params') return (req) => check(isStandard ? req.params : { ...req.params })
  if (part === 'query') return (req) => check(readQuery(req.query))
  if (part === 'all') {
    const merge = mergedInput(keysOf(schema), !isStandard, readQuery)
    return (req) => merge(req, check)
  }
  // Another validator may accept a missing body; a JSON Schema describes an existing one.
  return isStandard ? (req) => check(req.body) : (req) => (req.body === undefined ? missingBody : check(req.body))
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

/** Copies plain data: Ajv changes what it validates, and the parts must stay as they were. */
function copy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copy)
  // An uploaded file is passed on as it is.
  if (!isPlain(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, copy(one)]))
}

/**
 * Reads headers, query and body of a request as one object: the body overrides the query, the query the headers.
 *
 * `keys` are the keys that the schema names: no other header is included. Without `keys`, all headers are included.
 */
function mergedInput(
  keys: readonly string[] | undefined,
  copied: boolean,
  readQuery: (query: Query) => Query,
): (req: Request, check: Check) => ReturnType<Check> {
  return (req, check) => {
    const { body, headers } = req
    const query = readQuery(req.query)
    if (body !== undefined && (typeof body !== 'object' || body === null || Array.isArray(body))) return notAnObject
    const input: Record<string, unknown> = {}
    if (keys === undefined) Object.assign(input, headers)
    else {
      for (const key of keys) {
        const value = headers[key.toLowerCase()]
        if (value !== undefined) put(input, key, value)
      }
    }
    const merged = { ...input, ...query, ...body }
    return check(copied ? copy(merged) : merged)
  }
}

/** Stores a validated value where the handler reads it. */
function store(req: Request, part: Part, value: unknown): void {
  if (part === 'params') req.params = value as Request['params']
  else if (part === 'query') req.query = value as Request['query']
  else if (part === 'body') req.body = value
  else if (part === 'all') (req as Request & { validated: unknown }).validated = value
  // Into the request's own object: code that reads other headers after this finds them all.
  else if (typeof value === 'object' && value !== null && value !== req.headers) Object.assign(req.headers, value)
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

/** The middleware that validates the input of one route; `fail` responds to an invalid request. */
export function inputMiddleware(
  steps: readonly Step[],
  fail: (error: ValidationError, req: Request, res: Response) => unknown,
): Middleware {
  const refuse = (failed: FailedPart[], req: Request, res: Response) => {
    const error = validationError(failed)
    reportFailure(res, error)
    return fail(error, req, res)
  }
  const needsBody = steps.some(({ part }) => part === 'body' || part === 'all')

  return function validation(req, res, next) {
    if (needsBody && req.body === undefined && req.raw.hasBody) {
      throw UnsupportedMediaTypeError('no active body parser supports the content type of this request')
    }
    const failed = runSteps(steps, 0, req, undefined)
    if (!(failed instanceof Promise)) return failed === undefined ? next() : refuse(failed, req, res)
    return failed.then((list) => (list === undefined ? next() : refuse(list, req, res)))
  }
}
