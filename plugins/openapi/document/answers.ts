import { STATUS_CODES } from 'node:http'
import type { RouteOptions } from '../../../kernel/index.ts'
import { isComponentName } from '../components.ts'
import type { OpenApiReference, OpenApiResponse, OpenApiSchema } from '../types.ts'
import { formed, headerForm, linkForm, mediaForm } from './forms.ts'
import { isObject, type Json, mergeOver, toPlain } from './json.ts'
import { parts, type Scene } from './scene.ts'

type Answers = { [status: string]: OpenApiResponse | OpenApiReference }

const classes: Readonly<Record<string, string>> = {
  1: 'Informational',
  2: 'Success',
  3: 'Redirection',
  4: 'Client error',
  5: 'Server error',
}

/** `2xx` as OpenAPI writes it; `undefined` for what is no status. */
function statusKey(key: string): string | undefined {
  if (key === 'default') return key
  const status = key.toUpperCase()
  return /^[1-5](\d\d|XX)$/.test(status) ? status : undefined
}

function describeStatus(status: string): string {
  return STATUS_CODES[status] ?? classes[status.charAt(0)] ?? 'Any other answer'
}

const hasContent = (status: string) => !/^(1..|204|205|304)$/.test(status)

/** Keywords that make an object a schema where it could be an OpenAPI response. */
const schemaMarks = [
  'type',
  'properties',
  'items',
  'anyOf',
  'oneOf',
  'allOf',
  'enum',
  'const',
  '$id',
  '$defs',
  '~standard',
]
const isSchema = (value: object) => schemaMarks.some((mark) => mark in value)
const isComponentReference = (value: Json) =>
  typeof value.$ref === 'string' && !value.$ref.startsWith('#/components/schemas/')

/** The answers of an operation: those of its schemas, those of the framework, and those of `apidoc` merged over. */
export function answersOf(scene: Scene, apidoc: Json): Answers {
  const answers: Answers = {}
  for (const set of scene.sets) {
    const given = (set as { responses?: unknown }).responses
    for (const [key, schema] of isObject(given) ? Object.entries(given) : []) {
      const status = statusKey(key)
      if (status === undefined || schema === undefined) scene.note(`responses[${key}] is no answer`)
      else answers[status] = answer(scene, status, schema)
    }
  }
  if (isObject(apidoc.responses)) mergeResponses(scene, answers, apidoc.responses)
  for (const [status, name] of failuresOf(scene)) answers[status] ??= scene.builtIn(name)
  if (!Object.keys(answers).some((status) => /^[23]|default/.test(status))) answers['200'] = { description: 'OK' }
  return Object.fromEntries(Object.entries(answers).sort(([a], [b]) => (a < b ? -1 : 1)))
}

function answer(scene: Scene, status: string, schema: unknown): OpenApiResponse {
  const description = describeStatus(status)
  if (!hasContent(status)) return { description }
  const place = scene.use(schema, 'output', `response ${status}`) as OpenApiSchema
  return { description, content: { 'application/json': { schema: place } } }
}

function mergeResponses(scene: Scene, answers: Answers, given: Json): void {
  for (const [key, value] of Object.entries(given)) {
    const status = statusKey(key)
    if (status === undefined || (typeof value !== 'object' && typeof value !== 'function') || value === null) {
      scene.note(`apidoc.responses[${key}] is no answer`)
      continue
    }
    const below = answers[status]
    if (isSchema(value) || typeof value === 'function') answers[status] = answer(scene, status, value)
    else if (isComponentReference(value as Json)) answers[status] = referenceOf(scene, status, value as Json)
    else if (typeof (value as Json).$ref === 'string') answers[status] = answer(scene, status, value)
    else {
      const base = below === undefined || '$ref' in below ? {} : below
      answers[status] = mergeOver(
        base as Json,
        responseOf(scene, status, value as Json, base as Json),
      ) as unknown as OpenApiResponse
    }
  }
}

/** A reference to a response of the components; it may have a description of its own. */
function referenceOf(scene: Scene, status: string, { $ref, description }: Json): OpenApiResponse | OpenApiReference {
  const ref = String($ref)
  const own = typeof description === 'string' ? { description } : undefined
  if (scene.hasComponent(ref)) return { $ref: ref, ...own }
  scene.note(`apidoc.responses[${status}]: the reference ${JSON.stringify(ref)} leads nowhere`)
  return own ?? { description: describeStatus(status) }
}

/** The members of an OpenAPI response as they may be; `schema` is short for that of its JSON content. */
function responseOf(scene: Scene, status: string, given: Json, below: Json): Json {
  const { description, headers, content, links, schema } = given
  const response: Json = {
    description: typeof description === 'string' ? description : (below.description ?? describeStatus(status)),
  }
  if (isObject(headers))
    response.headers = Object.fromEntries(
      Object.entries(headers).map(([name, one]) => [name, headerOf(scene, name, one)]),
    )
  if (isObject(links)) response.links = Object.fromEntries(Object.entries(links).flatMap(linkOf))
  const media = { ...(schema !== undefined && { 'application/json': { schema } }), ...(isObject(content) && content) }
  if (Object.keys(media).length > 0) response.content = mediaOf(scene, media, 'output', `response ${status}`)
  for (const [name, value] of Object.entries(given)) if (name.startsWith('x-')) response[name] = toPlain(value)
  return response
}

/** A link leads to one operation; one that does not say which is left out. */
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
  const media = Object.entries(content).map(([type, given]) => {
    const { schema, ...rest } = isObject(given) ? given : {}
    const own = formed(mediaForm, rest)
    return [type, { ...own, ...(schema !== undefined && { schema: scene.use(schema, direction, what) }) }]
  })
  return Object.fromEntries(media)
}

/** What the framework answers in place of the handler. */
function failuresOf(scene: Scene): [status: string, name: 'Unauthorized' | 'TooManyRequests' | 'ValidationError'][] {
  const { route, sets } = scene
  const failures: ReturnType<typeof failuresOf> = []
  if (sets.some((set) => (set as { policy?: unknown }).policy !== undefined)) failures.push(['401', 'Unauthorized'])
  const isValidated = (set: RouteOptions) => parts.some((part) => set[part] !== undefined)
  // A set that tells its answers tells the one to a request that is not valid, too.
  const own = route.record.options
  const isTold = (set: RouteOptions) => set !== own && set.apidoc !== false && set.apidoc?.responses !== undefined
  if (sets.some((set) => isValidated(set) && !isTold(set))) failures.push(['422', 'ValidationError'])
  const limit = route.reachedBy.get('rateLimit')
  const rule = (own as { rateLimit?: unknown }).rateLimit
  if (limit !== undefined && rule !== false) {
    const { statusCode = 429 } = { ...(limit.options as object | undefined), ...(rule as object | undefined) } as {
      statusCode?: number
    }
    failures.push([String(statusCode), 'TooManyRequests'])
  }
  return failures
}
