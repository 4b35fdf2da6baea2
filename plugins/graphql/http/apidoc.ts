import type { ApiDoc } from '../../openapi/index.ts'

const text = { type: 'string' }
const map = { type: 'object', additionalProperties: true }
const asked = { query: { ...text, description: 'The document.' }, operationName: text }
const errors = {
  type: 'array',
  items: {
    type: 'object',
    properties: {
      message: text,
      locations: { type: 'array', items: map },
      path: { type: 'array', items: {} },
      extensions: { type: 'object', properties: { code: text } },
    },
    required: ['message'],
  },
}
const result = { type: 'object', properties: { data: {}, errors, extensions: map } }
const refused = { type: 'object', properties: { errors }, required: ['errors'] }
const failure = { type: 'object', properties: { code: text, message: text }, required: ['code', 'message'] }

const response = (description: string, schema: object) => ({
  description,
  content: { 'application/json': { schema }, 'application/graphql-response+json': { schema } },
})
const about = { tags: ['graphql'], summary: 'Handles GraphQL' }
const notAcceptable = response('The client accepts no media type that the server can send.', refused)

/** The API description of GET requests. */
export const getDoc: ApiDoc = {
  ...about,
  parameters: [
    { name: 'query', in: 'query', required: true, description: 'The document: one with a query.', schema: text },
    { name: 'operationName', in: 'query', schema: text },
    { name: 'variables', in: 'query', description: 'JSON.', schema: text },
    { name: 'extensions', in: 'query', description: 'JSON.', schema: text },
  ],
  responses: {
    200: response('The result.', result),
    400: response('The request is refused, or its document.', refused),
    405: response('A mutation is sent with POST.', refused),
    406: notAcceptable,
  },
}

/** The API description of POST requests, whose body another plugin reads and may refuse. */
export const postDoc: ApiDoc = {
  ...about,
  requestBody: {
    required: true,
    content: {
      'application/json': {
        schema: { type: 'object', properties: { ...asked, variables: map, extensions: map }, required: ['query'] },
      },
    },
  },
  responses: {
    200: response('The result.', result),
    400: response('The request is refused, or its document, or its body is not JSON.', { anyOf: [refused, failure] }),
    406: notAcceptable,
    415: response('The body is not `application/json` in UTF-8.', { anyOf: [refused, failure] }),
  },
}
