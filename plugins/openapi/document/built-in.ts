import type { OpenApiReference, OpenApiResponse, OpenApiSchema } from '../types.ts'
import { type Json, put } from './json.ts'

const text = { type: 'string' }
const object = (properties: { [name: string]: object }) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
})
const json = (schema: OpenApiSchema) => ({ 'application/json': { schema } })

/** The body of every failure that the framework answers. */
const failure = {
  $id: 'Failure',
  ...object({ code: { ...text, description: 'The name of the error.' }, message: text }),
}
const issue = object({
  part: { type: 'string', enum: ['headers', 'params', 'query', 'body', 'all'] },
  path: { type: 'string', description: 'JSON pointer into the part.' },
  keyword: text,
  message: text,
  params: { type: 'object' },
})

/** What the framework answers itself, as it does while nobody says otherwise. Without a content: `failure`. */
const builtIns: { readonly [name: string]: OpenApiResponse } = {
  BadRequest: {
    description: 'The request cannot be read: `JsonNotValidError` for a body that is no JSON, else `BadRequestError`.',
  },
  Unauthorized: { description: 'A policy did not let the caller in.', content: json(object({ error: text })) },
  PayloadTooLarge: {
    description: 'The body is too large: `PayloadTooLargeError`, or `FileTooLargeError` for a file in a form.',
  },
  UnsupportedMediaType: {
    description: 'The body has a type, a charset or an encoding that is not read: `UnsupportedMediaTypeError`.',
  },
  ValidationError: {
    description: 'The request is not valid.',
    content: json(object({ code: text, message: text, errors: { type: 'array', items: issue } })),
  },
  TooManyRequests: {
    description: 'The caller asks too often.',
    headers: { 'Retry-After': { description: 'Seconds until the next try.', schema: { type: 'integer' } } },
  },
}

/** The responses of one document by name: those of plugins and of the application, and of the framework those in use. */
export class SharedResponses {
  readonly #own: Json
  readonly #used = new Set<string>()
  readonly #failing = new Set<string>()
  readonly #place: (schema: OpenApiSchema) => unknown
  #placed: unknown

  /** `place` gives a schema its place in the document. */
  constructor(own: Json | undefined, place: (schema: OpenApiSchema) => unknown) {
    this.#own = own ?? {}
    this.#place = place
  }

  /** Whether there is one of that name. */
  has(name: string): boolean {
    return Object.hasOwn(this.#own, name) || Object.hasOwn(builtIns, name)
  }

  /** A reference to it: one of the framework's own is then taken into the document. */
  reference(name: string): OpenApiReference {
    this.#used.add(name)
    return { $ref: `#/components/responses/${name}` }
  }

  /** A reference to the response of a failure. */
  failureReference(name: string): OpenApiReference {
    this.#failing.add(name)
    return this.reference(name)
  }

  /** The response of a failure, with the body that every failure has where it names none. */
  failure(name: string): OpenApiResponse {
    const isOwn = Object.hasOwn(this.#own, name)
    const given = (isOwn ? this.#own[name] : builtIns[name]) as OpenApiResponse
    const isWhole = given.content !== undefined || '$ref' in given || (isOwn && Object.hasOwn(builtIns, name))
    return isWhole ? given : { ...given, content: json(this.#body as OpenApiSchema) }
  }

  /** One object wherever it is: what says the same is seen to be the same. */
  get #body(): unknown {
    this.#placed ??= this.#place(failure)
    return this.#placed
  }

  /** All of them, for the document. */
  all(): Json {
    const all: Json = {}
    for (const name of Object.keys(builtIns)) if (this.#used.has(name)) all[name] = this.failure(name)
    for (const [name, given] of Object.entries(this.#own)) {
      put(all, name, this.#failing.has(name) ? this.failure(name) : given)
    }
    return all
  }
}
