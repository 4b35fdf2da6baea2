import type { OpenApiResponse, OpenApiSchema } from '../types.ts'
import type { BuiltIn } from './scene.ts'

const text = { type: 'string' }
const object = (properties: { [name: string]: object }): OpenApiSchema => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
})
const json = (schema: OpenApiSchema) => ({ 'application/json': { schema } })

const failure = { code: text, message: text }
const issue = object({
  part: { type: 'string', enum: ['headers', 'params', 'query', 'body', 'all'] },
  path: { type: 'string', description: 'JSON pointer into the part.' },
  keyword: text,
  message: text,
  params: { type: 'object' },
})

/** What the framework answers itself, as it does while nobody says otherwise. */
export const builtIns: { readonly [Name in BuiltIn]: OpenApiResponse } = {
  Unauthorized: { description: 'A policy did not let the caller in.', content: json(object({ error: text })) },
  TooManyRequests: {
    description: 'The caller asks too often.',
    headers: { 'Retry-After': { description: 'Seconds until the next try.', schema: { type: 'integer' } } },
    content: json(object(failure)),
  },
  ValidationError: {
    description: 'The request is not valid.',
    content: json(object({ ...failure, errors: { type: 'array', items: issue as object } })),
  },
}
