import { STATUS_CODES } from 'node:http'
import { isComponentName } from '../../shared/descriptions/names.ts'
import { isFailureSchema } from '../../shared/failures/http-error.ts'
import { isObject, type Json, mapMembers, mergeOver, toPlain } from '../../shared/values/json.ts'
import type { OpenApiReference, OpenApiResponse, OpenApiSchema } from '../types.ts'
import { failuresOf } from './failure-responses.ts'
import { formed, headerForm, isSchema, linkForm, mediaForm } from './forms.ts'
import type { Scene } from './operation-context.ts'

type Responses = { [status: string]: OpenApiResponse | OpenApiReference }

const classes: Readonly<Record<string, string>> = {
  1: 'Informational',
  2: 'Success',
  3: 'Redirection',
  4: 'Client error',
  5: 'Server error',
}

/** A status in the form of OpenAPI, `2XX` for `2xx`; `undefined` for an invalid status. */
function statusKey(key: string): string | undefined {
  if (key === 'default') return key
  const status = key.toUpperCase()
  return /^[1-5](\d\d|XX)$/.test(status) ? status : undefined
}

function describeStatus(status: string): string {
  return STATUS_CODES[status] ?? classes[status.charAt(0)] ?? 'Any other response'
}

const hasContent = (status: string) => !/^(1..|204|205|304)$/.test(status)

const isComponentReference = (value: Json) =>
  typeof value.$ref === 'string' && !value.$ref.startsWith('#/components/schemas/')

/** The responses of an operation: those of its schemas, with those of `apidoc` merged over them, and failures for all other statuses. */
export function responsesOf(scene: Scene, apidoc: Json): Responses {
  const responses: Responses = {}
  for (const set of scene.sets) {
    const given = (set as { responses?: unknown }).responses
    for (const [key, schema] of isObject(given) ? Object.entries(given) : []) {
      const status = statusKey(key)
      if (status === undefined || schema === undefined) scene.note(`responses[${key}] is not a response`)
      else responses[status] = describedResponse(scene, status, schema)
    }
  }
  if (isObject(apidoc.responses)) mergeResponses(scene, responses, apidoc.responses)
  const failures = failuresOf(scene, (status) => responses[status] === undefined)
  Object.assign(responses, failures)
  if (!Object.keys(responses).some((status) => /^[23]|default/.test(status))) responses['200'] = { description: 'OK' }
  return Object.fromEntries(Object.entries(responses).sort(([a], [b]) => (a < b ? -1 : 1)))
}

function describedResponse(scene: Scene, status: string, schema: unknown): OpenApiResponse {
  const description = describeStatus(status)
  if (!hasContent(status)) return { description }
  if (isFailureSchema(schema)) return { description, content: scene.responses.content() }
  const place = scene.use(schema, 'output', `response ${status}`) as OpenApiSchema
  return { description, content: { 'application/json': { schema: place } } }
}

function mergeResponses(scene: Scene, responses: Responses, given: Json): void {
  for (const [key, value] of Object.entries(given)) {
    const status = statusKey(key)
    if (status === undefined || (typeof value !== 'object' && typeof value !== 'function') || value === null) {
      scene.note(`apidoc.responses[${key}] is not a response`)
      continue
    }
    const below = responses[status]
    if (isSchema(value) || typeof value === 'function') responses[status] = describedResponse(scene, status, value)
    else if (isComponentReference(value as Json)) responses[status] = referenceOf(scene, status, value as Json)
    else if (typeof (value as Json).$ref === 'string') responses[status] = describedResponse(scene, status, value)
    else {
      const base = (below === undefined || '$ref' in below ? {} : below) as Json
      responses[status] = mergeOver(base, responseOf(scene, status, value as Json, base)) as unknown as OpenApiResponse
    }
  }
}

/** A reference to a response of the components; it may have a description of its own. */
function referenceOf(scene: Scene, status: string, { $ref, description }: Json): OpenApiResponse | OpenApiReference {
  const ref = String($ref)
  const own = typeof description === 'string' ? { description } : undefined
  if (scene.hasComponent(ref)) return { $ref: ref, ...own }
  scene.note(`apidoc.responses[${status}]: the reference ${JSON.stringify(ref)} cannot be resolved`)
  return own ?? { description: describeStatus(status) }
}

/** The valid members of an OpenAPI response; `schema` is short for the schema of its JSON content. */
function responseOf(scene: Scene, status: string, given: Json, below: Json): Json {
  const { description, headers, content, links, schema } = given
  const response: Json = {
    description: typeof description === 'string' ? description : (below.description ?? describeStatus(status)),
  }
  if (isObject(headers)) response.headers = mapMembers(headers, (one, name) => headerOf(scene, name, one))
  if (isObject(links)) response.links = Object.fromEntries(Object.entries(links).flatMap(linkOf))
  const media = { ...(schema !== undefined && { 'application/json': { schema } }), ...(isObject(content) && content) }
  if (Object.keys(media).length > 0) response.content = mediaOf(scene, media, 'output', `response ${status}`)
  for (const [name, value] of Object.entries(given)) if (name.startsWith('x-')) response[name] = toPlain(value)
  return response
}

/** A link must refer to one operation; a link that names no operation is left out. */
function linkOf([name, given]: [string, unknown]): [string, Json][] {
  if (!isObject(given) || !isComponentName(name)) return []
  const link = formed(linkForm, given)
  const isOne = (link.operationId === undefined) !== (link.operationRef === undefined)
  return isOne ? [[name, link]] : []
}

function headerOf(scene: Scene, name: string, given: unknown): unknown {
  if (!isObject(given)) return { schema: { type: 'string' } }
  if (typeof given.$ref === 'string' && scene.hasComponent(given.$ref)) return { $ref: given.$ref }
  const { schema } = given
  const own = formed(headerForm, given)
  return { ...own, schema: schema === undefined ? { type: 'string' } : scene.use(schema, 'output', `header ${name}`) }
}

/** Media types with schemas of any kind. */
export function mediaOf(scene: Scene, content: Json, direction: 'input' | 'output', what: string): Json {
  return mapMembers(content, (given) => {
    const { schema, ...rest } = isObject(given) ? given : {}
    const own = formed(mediaForm, rest)
    return { ...own, ...(schema !== undefined && { schema: scene.use(schema, direction, what) }) }
  })
}
