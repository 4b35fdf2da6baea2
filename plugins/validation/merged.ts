import type { Query, Request } from '../../kernel/index.ts'
import type { Check, Verdict } from '../shared/schema/check.ts'

const notAnObject: Verdict = {
  ok: false,
  issues: [{ path: '', keyword: 'type', message: 'the body must be an object', params: { type: 'object' } }],
  cause: undefined,
}

/** Copies plain data: Ajv changes what it validates, and the parts must stay as they were. */
function copy(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(copy)
  const prototype: unknown = Object.getPrototypeOf(value)
  // An uploaded file is passed on as it is.
  if (prototype !== Object.prototype && prototype !== null) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, copy(one)]))
}

/**
 * Reads headers, query and body of a request as one object: the body overrides the query, the query the headers.
 *
 * `keys` are the keys that the schema names: no other header is included. Without `keys`, all headers are included.
 */
export function mergedInput(
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
        // `__proto__` as a key in a schema must not set a prototype.
        if (value !== undefined) Object.defineProperty(input, key, { value, ...plain })
      }
    }
    const merged = { ...input, ...query, ...body }
    return check(copied ? copy(merged) : merged)
  }
}

const plain = { enumerable: true, writable: true, configurable: true }
