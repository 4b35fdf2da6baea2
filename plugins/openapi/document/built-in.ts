import type { DescribedFormat } from '../../shared/failures/formatted-failures.ts'
import { type Json, put } from '../../shared/values/json.ts'
import type { OpenApiMediaType, OpenApiReference, OpenApiResponse, OpenApiSchema } from '../types.ts'

const text = { type: 'string' }
const object = (properties: { [name: string]: object }) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
})

/** The body of every failure to which the framework responds. */
const failure = {
  $id: 'Failure',
  ...object({ code: { ...text, description: 'The name of the error.' }, message: text }),
}
const problem = {
  $id: 'Problem',
  description: 'Problem Details (RFC 9457).',
  type: 'object',
  properties: {
    type: {
      ...text,
      format: 'uri-reference',
      description: 'The kind of problem; about:blank if the status is enough.',
    },
    title: { ...text, description: 'The phrase of the status.' },
    status: { type: 'integer' },
    detail: { ...text, description: 'What happened this time.' },
    instance: { ...text, format: 'uri-reference', description: 'The id of the request.' },
    code: { ...text, description: 'The name of the error.' },
  },
  required: ['type', 'title', 'status', 'code'],
}
const issue = object({
  part: { type: 'string', enum: ['headers', 'params', 'query', 'body', 'all'] },
  path: { type: 'string', description: 'JSON pointer into the part.' },
  keyword: text,
  message: text,
  params: { type: 'object' },
})
const issues = { type: 'array', items: issue }

/** The responses that the framework itself gives by default. */
const builtIns: { readonly [name: string]: OpenApiResponse } = {
  BadRequest: {
    description: 'The request cannot be read: `JsonNotValidError` for a body that is not JSON, else `BadRequestError`.',
  },
  Unauthorized: { description: 'A policy rejected the caller.' },
  Forbidden: { description: 'A policy rejected the caller, regardless of its identity.' },
  PayloadTooLarge: {
    description: 'The body is too large: `PayloadTooLargeError`, or `FileTooLargeError` for a file in a form.',
  },
  UnsupportedMediaType: {
    description: 'The body has a type, a charset or an encoding that is not supported: `UnsupportedMediaTypeError`.',
  },
  ValidationError: { description: 'The request is not valid.' },
  TooManyRequests: {
    description: 'The caller sends too many requests.',
    headers: { 'Retry-After': { description: 'Seconds until the next try.', schema: { type: 'integer' } } },
  },
  ServiceUnavailable: { description: 'The response takes too long, or is being computed for another request.' },
}

/** Bodies in the default format that differ from those of other failures. */
const ownBodies: { readonly [name: string]: OpenApiSchema } = {
  Unauthorized: object({ error: text }),
  Forbidden: object({ error: text }),
  ValidationError: object({ code: text, message: text, errors: issues }),
}

export type SharedResponses = ReturnType<typeof sharedResponses>

/**
 * The responses of one document by name: all those of plugins and of the application, and those of the framework that are used.
 *
 * `place` adds a schema to the document; `format` is the format of the server's failures, if it is not the default one.
 */
export function sharedResponses(own: Json = {}, place: (schema: unknown) => unknown, format?: DescribedFormat) {
  const used = new Set<string>()
  const failing = new Set<string>()
  let placed: unknown
  /** Always the same object for the same body, so that equal bodies are recognised. */
  const bodyOf = (schema: unknown): OpenApiSchema => {
    placed ??= place(schema)
    return placed as OpenApiSchema
  }
  /** The content of a failure in the format of the server; `name` is the name of one of the framework's own responses. */
  const content = (name = ''): { [type: string]: OpenApiMediaType } => {
    const { contentType = 'application/json', schema } = format ?? {}
    if (format === undefined) {
      const body = Object.hasOwn(ownBodies, name) ? ownBodies[name] : undefined
      return { [contentType]: { schema: body ?? bodyOf(failure) } }
    }
    // What an application's function returns has the declared schema, or any.
    if (schema === undefined) return { [contentType]: {} }
    if (schema !== 'problem') return { [contentType]: { schema: bodyOf(schema) } }
    const body = bodyOf(problem)
    const invalid = { allOf: [body, { type: 'object', properties: { errors: issues }, required: ['errors'] }] }
    return { [contentType]: { schema: name === 'ValidationError' ? invalid : body } }
  }
  /** The response of a failure, with the default body of failures if it lacks one. */
  const responseOf = (name: string): OpenApiResponse => {
    const isOwn = Object.hasOwn(own, name)
    const given = (isOwn ? own[name] : builtIns[name]) as OpenApiResponse
    const isWhole = given.content !== undefined || '$ref' in given || (isOwn && Object.hasOwn(builtIns, name))
    return isWhole ? given : { ...given, content: content(isOwn ? '' : name) }
  }
  /** A reference to a response; one of the framework's own is then added to the document. */
  const reference = (name: string): OpenApiReference => {
    used.add(name)
    return { $ref: `#/components/responses/${name}` }
  }
  return {
    content,
    failure: responseOf,
    reference,
    /** Whether there is a response with this name. */
    has: (name: string): boolean => Object.hasOwn(own, name) || Object.hasOwn(builtIns, name),
    /** A reference to the response of a failure. */
    failureReference(name: string): OpenApiReference {
      failing.add(name)
      return reference(name)
    },
    /** All responses, for the document. */
    all(): Json {
      const all: Json = {}
      for (const name of Object.keys(builtIns)) if (used.has(name)) all[name] = responseOf(name)
      for (const [name, given] of Object.entries(own)) put(all, name, failing.has(name) ? responseOf(name) : given)
      return all
    },
  }
}
