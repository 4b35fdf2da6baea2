import { isHeaderName, isRequired, type Members, membersOf } from '../../shared/descriptions/members.ts'
import { withBody } from '../../shared/http/body-parser.ts'
import { isObject, type Json } from '../../shared/values/json.ts'
import type { OpenApiParameter, OpenApiSchema } from '../types.ts'
import { type Part, type Scene, schemasOf } from './operation-context.ts'

/** These three headers are described elsewhere; OpenAPI ignores parameters with their names. */
const ignored: ReadonlySet<string> = new Set(['accept', 'content-type', 'authorization'])

/** The members of the schemas of all validators of a part. */
export function membersOfPart(scene: Scene, part: Part): Members {
  return membersOf({ allOf: schemasOf(scene, part).map((schema) => scene.look(schema, part)) })
}

/** The parameters of an operation according to its schemas: of the path, the query and the headers. */
export function parametersOf(scene: Scene): OpenApiParameter[] {
  const query = membersOfPart(scene, 'query')
  const header = membersOfPart(scene, 'headers')
  const all = membersOfPart(scene, 'all').properties
  const path = membersOfPart(scene, 'params').properties
  const parameters: OpenApiParameter[] = scene.pathParameters.map(({ name, described }) => ({
    ...parameter('path', described, path.get(name) ?? { type: 'string' }),
    required: true,
  }))
  for (const [place, members] of Object.entries({ query, header })) {
    for (const [name, schema] of members.properties) {
      if (place === 'header' && ignored.has(name.toLowerCase())) continue
      const required = isRequired(members, name) && { required: true }
      parameters.push({ ...parameter(place as 'query' | 'header', name, schema), ...required })
    }
  }
  const taken = new Set(parameters.map((one) => `${one.in} ${one.name.toLowerCase()}`))
  const inBody = withBody.has(scene.method) || schemasOf(scene, 'body').length > 0
  for (const [name, schema] of all) {
    const place = isHeaderName(name) ? 'header' : inBody ? undefined : 'query'
    if (place === undefined || ignored.has(name.toLowerCase()) || taken.has(`${place} ${name.toLowerCase()}`)) continue
    parameters.push(parameter(place, name, schema))
  }
  if (query.isOpen && schemasOf(scene, 'query').length > 0) parameters.push(freeQuery(scene, taken))
  return parameters
}

function parameter(place: OpenApiParameter['in'], name: string, schema: unknown): OpenApiParameter {
  if (!isObject(schema) || Object.getPrototypeOf(schema) !== Object.prototype) {
    return { name, in: place, schema: schema as OpenApiSchema }
  }
  const { description, deprecated, ...rest } = schema as Json
  return {
    name,
    in: place,
    ...(typeof description === 'string' && { description }),
    ...(deprecated === true && { deprecated }),
    schema: rest,
  }
}

/** A parameter for a query with any names: each member of this object is a parameter of its own. */
function freeQuery(scene: Scene, taken: ReadonlySet<string>): OpenApiParameter {
  const looked = schemasOf(scene, 'query').map((schema) => scene.look(schema, 'query'))
  const described = looked.find((one) => isObject(one) && typeof one.description === 'string') as Json | undefined
  const rest = looked
    .map((one) => (isObject(one) ? one.additionalProperties : undefined))
    .find((one) => one !== undefined)
  return {
    name: taken.has('query query') ? 'others' : 'query',
    in: 'query',
    ...(described !== undefined && { description: String(described.description) }),
    style: 'form',
    explode: true,
    schema: { type: 'object', additionalProperties: rest ?? true },
  }
}
