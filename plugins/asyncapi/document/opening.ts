import type { RouteOptions } from '../../../kernel/index.ts'
import { isHeaderName, isRequired, type Members, membersOf, schemaOf } from '../../shared/descriptions/members.ts'
import type { DescribedPath } from '../../shared/descriptions/paths.ts'
import { isObject, type Json, put } from '../../shared/values/json.ts'

/** Returns a translated schema, so that its parts can be read. */
type Look = (schema: unknown, what: string) => unknown

/** Describes the parts of a websocket's opening request: the binding `ws` of a channel. */
export function openingOf(options: RouteOptions, subprotocols: readonly string[] | undefined, look: Look): Json {
  const all = options.all === undefined ? undefined : membersOf(look(options.all, 'all'))
  const query = objectOf(partOf(options.query, 'query', look), all, (name) => !isHeaderName(name))
  const headers = objectOf(partOf(options.headers, 'headers', look), all, isHeaderName)
  const offered = subprotocols === undefined ? undefined : withSubprotocols(headers, subprotocols)
  return {
    method: 'GET',
    query,
    headers: offered ?? headers,
    bindingVersion: '0.1.0',
  }
}

const partOf = (schema: unknown, what: string, look: Look) =>
  schema === undefined ? undefined : membersOf(look(schema, what))

/** Returns a part of the request as one object schema, since the binding lists members by name. */
function objectOf(part: Members | undefined, all: Members | undefined, isOwn: (name: string) => boolean) {
  const properties: Json = {}
  const required: string[] = []
  for (const members of [all, part].filter((one) => one !== undefined)) {
    for (const [name, schema] of members.properties) {
      if (members === all && !isOwn(name)) continue
      put(properties, name, schema)
      if (isRequired(members, name)) required.push(name)
    }
  }
  if (part === undefined && Object.keys(properties).length === 0) return undefined
  return { type: 'object', properties, ...(required.length > 0 && { required: [...new Set(required)] }) }
}

function withSubprotocols(headers: ReturnType<typeof objectOf>, subprotocols: readonly string[]) {
  const name = 'Sec-WebSocket-Protocol'
  const description = `The client offers one of these sub-protocols, or several: ${subprotocols.join(', ')}.`
  return {
    type: 'object',
    properties: { ...headers?.properties, [name]: { type: 'string', description, examples: [...subprotocols] } },
    required: [...(headers?.required ?? []), name],
  }
}

/** Describes the parameters of a path, which can only be strings in AsyncAPI. */
export function parametersOf(path: DescribedPath, options: RouteOptions, look: Look): Json | undefined {
  if (path.parameters.length === 0) return undefined
  const members = partOf(options.params, 'params', look)?.properties
  const parameters: Json = {}
  for (const { name, described } of path.parameters) {
    const own = schemaOf(members?.get(name))
    const { description, enum: values } = isObject(own) ? own : {}
    const isText = Array.isArray(values) && values.every((one) => typeof one === 'string')
    put(parameters, described, {
      ...(typeof description === 'string' && { description }),
      ...(isText && { enum: values }),
    })
  }
  return parameters
}
