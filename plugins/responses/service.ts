import { isFailureBody, refuseEmptied, toJson } from '../../kernel/index.ts'
import { isSchema } from '../shared/schema/check.ts'
import { markIssued, marksOf } from '../shared/schema/marks.ts'
import { orFail } from '../shared/values/safely.ts'
import { ResponseSchemaError, type Serializer, serializerOf } from './serialize.ts'

/** Schemas of responses by status (`200`), by class of statuses (`2xx`), and for all others (`default`). */
export interface ResponseSchemas {
  readonly [statusOrClass: string]: object
}

/** The route that the schemas belong to, and their mode. */
export interface CompileOptions {
  /** The name of the route in errors: `GET /users/:id`. */
  readonly route: string
  /** The `secret` members that the responses send: `['token']`. */
  readonly issues?: readonly string[] | undefined
  /**
   * Makes the serialiser lenient: the matching part of a response that does not match is sent, and this is called once with the
   * reason. Without it, such a response throws.
   */
  onMismatch?(error: Error): void
}

/** Ensures that only one schema has a given `$id`. */
type Claim = (schema: object, route: string, part: string) => void

/** Serialisers made from response schemas, for plugins and decorators. */
export class Responses {
  #claim: Claim | undefined

  /** @internal */
  claimWith(claim: Claim): void {
    this.#claim = claim
  }

  /**
   * Returns one serialiser for the schemas of one route: it uses the schema that is nearest to the status of the response, and writes
   * a response without one as plain JSON. The schema of a route's only success also applies to 200.
   *
   * Even in lenient mode, members outside the schema are left out: a scalar of the wrong type is sent as it is, but an
   * object or an array instead of another type is not sent.
   *
   * @throws ResponseSchemaError for a key that is not a status, a schema that cannot be compiled, and a `secret` member that `issues` does not name.
   * @example
   * declare const server: Server
   * const Name = { type: 'object', properties: { name: { type: 'string' } } }
   * const write = server.services.get('responses').compile({ '2xx': Name }, { route: 'GET /me' })
   * write({ name: 'ada', password: 'secret' }, 200) // {"name":"ada"}
   */
  compile(schemas: ResponseSchemas, options: CompileOptions): (payload: unknown, status: number) => string {
    const { route, onMismatch, issues = [] } = options
    checkIssues(schemas, issues, route)
    const exact = new Map<number, Serializer>()
    const classes = new Map<number, Serializer>()
    let others: Serializer | undefined
    for (const [key, schema] of Object.entries(schemas)) {
      if (!isSchema(schema)) throw ResponseSchemaError(route, key, 'a schema is an object')
      this.#claim?.(schema, route, `responses[${key}]`)
      const serializer = serializerOf(schema, route, key, onMismatch)
      const status = Number(key)
      if (Number.isInteger(status) && status >= 200 && status <= 599) exact.set(status, serializer)
      else if (/^[2-5]xx$/i.test(key)) classes.set(Number(key[0]), serializer)
      else if (key === 'default') others = serializer
      else throw ResponseSchemaError(route, key, 'the keys are statuses from 200 to 599, classes like 2xx, or default')
    }
    // 200 is also the default status of a returned value: members that the schema of 201 excludes must not be sent with it.
    const successes = [...exact].filter(([status]) => status < 300)
    if (successes.length === 1 && !classes.has(2) && others === undefined) exact.set(200, successes[0]![1])
    return (payload, status) => {
      const serializer = exact.get(status) ?? classes.get(Math.floor(status / 100)) ?? others
      // The framework's own responses, such as a 413, have their own form, whatever the route declares.
      if (serializer === undefined || isFailureBody(payload)) return toJson(payload)
      const text = serializer(payload, status)
      if (text === '{}') refuseEmptied(payload)
      return text
    }
  }
}

/** Ensures that responses send exactly those secrets that a route says it issues. */
function checkIssues(schemas: ResponseSchemas, issues: readonly string[], route: string): void {
  const left = new Set(issues)
  for (const [key, schema] of Object.entries(schemas)) {
    if (!isSchema(schema)) continue
    const marks = orFail(
      () => marksOf(schema),
      (why) => ResponseSchemaError(route, key, why),
    )
    for (const { path, mark } of marks?.members ?? []) {
      if (mark !== 'secret') continue
      if (!issues.includes(path)) {
        const sends = `it sends ${path === '' ? 'a secret' : `the secret "${path}"`}. Leave it out of the response`
        throw ResponseSchemaError(route, key, `${sends}. A route that gives it out says so: issues: ['${path}']`)
      }
      markIssued(schema)
      left.delete(path)
    }
  }
  const [unknown] = left
  if (unknown !== undefined)
    throw ResponseSchemaError(route, 'issues', `"${unknown}" is not a secret member of a response. Remove it`)
}
