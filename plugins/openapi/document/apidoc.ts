import { isObject, type Json, mergeOver } from '../../shared/values/json.ts'
import type { OpenApiParameter, OpenApiRequestBody, OpenApiSchema } from '../types.ts'
import { bodyForm, formed, operationForm, parameterForms } from './forms.ts'
import type { Scene } from './operation-context.ts'
import { mediaOf } from './responses.ts'

/** The `apidoc` of a route's options and its plugins, merged: the route's own takes precedence. */
export function apidocOf({ sets, note }: Scene): Json {
  // The route's own set is the first one.
  const [own, ...contributed] = sets.map(({ apidoc }) => apidoc as unknown)
  let merged: Json = {}
  for (const apidoc of [...contributed, own]) {
    if (apidoc === undefined || apidoc === false) continue
    if (!isObject(apidoc)) {
      note('its apidoc is not an object')
      continue
    }
    const { parameters, responses, ...rest } = apidoc
    merged = {
      ...merged,
      ...rest,
      parameters: [...list(merged.parameters), ...list(parameters)],
      responses: mergeOver(asObject(merged.responses), asObject(responses)),
    }
  }
  return merged
}

const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
const asObject = (value: unknown): Json => (isObject(value) ? value : {})

/** The members that an operation takes over unchanged. */
export function plainMembers(apidoc: Json, note: (why: string) => void): Json {
  const members = formed(operationForm, apidoc)
  for (const name of Object.keys(operationForm)) {
    if (apidoc[name] !== undefined && members[name] === undefined) {
      note(`apidoc.${name} does not have the form that OpenAPI defines`)
    }
  }
  return members
}

/** The parameters of the schemas with those of `apidoc` merged over, by name and place. */
export function mergeParameters(scene: Scene, below: readonly OpenApiParameter[], given: unknown): OpenApiParameter[] {
  const key = (one: { name: string; in: string }) =>
    `${one.in} ${one.in === 'header' ? one.name.toLowerCase() : one.name}`
  const merged = new Map(below.map((one) => [key(one), one]))
  for (const one of list(given)) {
    if (!isObject(one) || typeof one.name !== 'string' || !Object.hasOwn(parameterForms, String(one.in))) {
      scene.note('apidoc.parameters has a parameter without name or in')
      continue
    }
    const place = one.in as OpenApiParameter['in']
    const name = place === 'path' ? pathNameOf(scene, one.name) : one.name
    // This variant of the path lacks the optional parameter.
    if (name === undefined) continue
    const there = merged.get(key({ name, in: place }))
    const { schema, content } = one
    const own: Json = {
      ...formed(parameterForms[place]!, one),
      name,
      in: place,
      ...(place === 'path' && { required: true }),
    }
    const media = isObject(content) ? Object.entries(content)[0] : undefined
    if (media !== undefined) own.content = mediaOf(scene, Object.fromEntries([media]), 'input', `parameter ${name}`)
    else if (schema !== undefined) own.schema = scene.use(schema, 'input', `parameter ${name}`)
    const both: Json = { ...(there as object | undefined), ...own }
    if (both.content !== undefined) for (const member of ['schema', 'style', 'explode']) delete both[member]
    else both.schema ??= { type: 'string' } satisfies OpenApiSchema
    if (both.examples !== undefined) delete both.example
    merged.set(key({ name, in: place }), both as unknown as OpenApiParameter)
  }
  return [...merged.values()]
}

function pathNameOf({ pathParameters, route, note }: Scene, name: string): string | undefined {
  const there = pathParameters.find((one) => one.name === name || one.described === name)
  if (there === undefined && !route.record.shapes.some(({ segments }) => segments.some(({ text }) => text === name))) {
    note(`apidoc.parameters names "${name}", which is not in the path`)
  }
  return there?.described
}

/** The request body of the schemas with that of `apidoc` merged over. */
export function mergeBody(
  scene: Scene,
  below: OpenApiRequestBody | undefined,
  given: unknown,
): OpenApiRequestBody | undefined {
  if (!isObject(given)) return below
  if (typeof given.$ref === 'string') {
    if (scene.hasComponent(given.$ref)) return { $ref: given.$ref } as unknown as OpenApiRequestBody
    scene.note(`apidoc.requestBody: the reference ${JSON.stringify(given.$ref)} cannot be resolved`)
    return below
  }
  const { content, schema } = given
  const media = { ...(schema !== undefined && { 'application/json': { schema } }), ...(isObject(content) && content) }
  const own = formed(bodyForm, given)
  if (Object.keys(media).length > 0) own.content = mediaOf(scene, media, 'input', 'body')
  const merged = mergeOver((below ?? {}) as Json, own)
  merged.content ??= { 'application/json': {} }
  return merged as unknown as OpenApiRequestBody
}
