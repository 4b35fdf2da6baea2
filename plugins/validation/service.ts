import { isDeepStrictEqual } from 'node:util'
import { defineErrors, type Middleware, nearest, type Request, type Response } from '../../kernel/index.ts'
import { type Check, checkOf, isSchema, type Mode } from '../shared/schema/check.ts'
import { definitionKeywords, listKeywords, mapKeywords, schemaKeywords } from '../shared/schema/keywords.ts'
import { checkSendable, foreignTypeError } from '../shared/schema/sendable.ts'
import { orFail } from '../shared/values/safely.ts'
import { inputMiddleware, stepOf } from './input.ts'
import {
  type Part,
  parts,
  refuseInvalid,
  toCallback,
  type ValidationError,
  type ValidationErrorCallback,
  type ValidationErrorHandler,
} from './validation-error.ts'

const { SchemaError, SchemaIdError } = defineErrors({
  SchemaError: (route: string, part: string, why: string) =>
    `the schema "${part}" of ${route} cannot be used: ${why}${why.endsWith('?') ? '' : '.'} It takes a JSON Schema, or a TypeBox, Zod or other Standard Schema`,
  SchemaIdError: (id: string, first: string, second: string) =>
    `the schemas of ${first} and of ${second} share the $id "${id}" but differ. Change the $id of one of them`,
})

/** Keywords that people write by hand, and misspell. */
const keywords = [
  ...[...schemaKeywords, ...mapKeywords, ...listKeywords, ...definitionKeywords],
  ...['type', 'required', 'enum', 'const', 'description', 'nullable', 'examples', 'multipleOf', 'title', 'default'],
  ...['sensitive', 'secret'],
  ...['minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems', 'uniqueItems', 'pattern', 'format'],
]

/** Ajv's message about an unknown keyword, in the terms of the schema's author. */
function inWordsOfSchemas(message: string): string {
  const keyword = /^strict mode: unknown keyword: "(.+)"$/.exec(message)?.[1]
  if (keyword === undefined) return message
  if (keyword === 'errorMessage')
    return '"errorMessage" is a keyword of ajv-errors: use setValidationErrorHandler({ message })'
  const near = nearest(keyword, keywords)
  return `"${keyword}" is not a keyword of JSON Schema${near === undefined ? '' : `; did you mean "${near}"?`}`
}

/** Validation of one server: its error handler, and compiled schemas for other plugins. */
export class Validation {
  #handler: ValidationErrorCallback | undefined
  readonly #ids = new Map<string, { schema: object; route: string }>()

  /** Replaces the default response, with a function `(req, res, error)` or with `{ status, map(error, req) }`. */
  setHandler(handler: ValidationErrorHandler): void {
    this.#handler = toCallback(handler)
  }

  /**
   * Returns the check for one schema of one route.
   *
   * @throws SchemaError for an invalid schema, SchemaIdError when another schema of this server has its `$id`.
   */
  compile(schema: unknown, mode: Mode, route: string, part: string): Check {
    this.claim(schema, route, part)
    return orFail(
      () => checkOf(schema, mode),
      (why) => foreignTypeError(schema, part, route) ?? SchemaError(route, part, inWordsOfSchemas(why)),
    )
  }

  /** Ensures that a value is a schema, and that only this schema has its `$id`. */
  claim(schema: unknown, route: string, part: string): asserts schema is object {
    if (!isSchema(schema)) throw SchemaError(route, part, `it is ${schema === null ? 'null' : `a ${typeof schema}`}`)
    const { $id: id } = schema as { $id?: unknown }
    // Each copy of TypeBox numbers its recursive schemas from T0 on.
    if (typeof id !== 'string' || /^T\d+$/.test(id)) return
    const there = this.#ids.get(id)
    if (there === undefined) this.#ids.set(id, { schema, route })
    else if (there.schema !== schema && !isDeepStrictEqual(there.schema, schema)) {
      throw SchemaIdError(id, there.route, route)
    }
  }

  /**
   * The middleware that validates the parts of a request; for the slot `input` of a route.
   *
   * `fail` responds instead of the server's error handler.
   */
  middleware(
    route: string,
    schemas: { readonly [Name in Part]?: object | undefined },
    fail?: (error: ValidationError, req: Request, res: Response) => unknown,
  ): Middleware {
    const steps = parts.flatMap((part) => {
      const schema = schemas[part]
      if (schema === undefined) return []
      const check = this.compile(schema, part === 'headers' || part === 'body' ? part : 'text', route, part)
      checkSendable(schema, part, route)
      return [{ part, run: stepOf(part, schema, check) }]
    })
    return inputMiddleware(steps, fail ?? ((error, req, res) => refuseInvalid(error, req, res, this.#handler)))
  }
}
