import { isDeepStrictEqual } from 'node:util'
import { changeSchemas } from '../../plugins/shared/schema/keywords.ts'
import { freeName } from '../../plugins/shared/schema/names.ts'
import { isObject, type Json, put } from '../../plugins/shared/values/json.ts'
import { type ApiDocument, follow, type Reference, type Schema, sorted } from './document.ts'

/** The part of an AsyncAPI 3 document that the generator reads; other members are ignored. */
export interface MessageDocument {
  readonly channels?: { readonly [id: string]: Channel | Reference }
  readonly operations?: { readonly [id: string]: MessageOperation | Reference }
  readonly components?: { readonly [kind: string]: { readonly [name: string]: unknown } | undefined }
}

interface Channel {
  readonly address?: string | null
  readonly summary?: string
  readonly description?: string
  readonly messages?: { readonly [name: string]: Message | Reference }
  readonly bindings?: { readonly ws?: { readonly query?: Schema; readonly headers?: Schema } }
  readonly 'x-subprotocols'?: readonly string[]
}

interface MessageOperation {
  readonly action?: string
  readonly channel?: Reference
  readonly messages?: readonly Reference[]
}

interface Message {
  readonly payload?: Schema
  readonly deprecated?: boolean
}

/** A websocket of the server, as the client sees it. */
export type SocketRoute = ReturnType<typeof socketsOf>['routes'][number]

/** Reads the websockets from an AsyncAPI document, and adds its schemas to the other; other channels are not for clients over HTTP. */
export function socketsOf(api: ApiDocument, messages: MessageDocument = {}) {
  const schemas = (messages.components?.schemas ?? {}) as { readonly [name: string]: Schema }
  const { names, added } = withNames(schemas, (api.components?.schemas ?? {}) as { readonly [name: string]: Schema })
  const modern = (schema: Schema | undefined) => rewritten(schema, names) as Schema | undefined
  // References are the same in both kinds of documents.
  const whole = messages as unknown as ApiDocument
  const routes = sorted(messages.channels).flatMap(([id, given]) => {
    const channel = follow<Channel>(whole, given)
    const ws = channel?.bindings?.ws
    if (channel === undefined || ws === undefined || !channel.address?.startsWith('/')) return []
    const own = Object.values(messages.operations ?? {})
      .map((one) => follow<MessageOperation>(whole, one))
      .filter((one) => one?.channel?.$ref === `#/channels/${id}`)
    const messagesOf = (action: string) =>
      own
        .filter((one) => one?.action === action)
        .flatMap((one): readonly unknown[] => one?.messages ?? Object.values(channel.messages ?? {}))
        .map((one) => follow<Message>(whole, one as Message | Reference) ?? {})
    const schemasOf = (all: readonly Message[]) => {
      const payloads = all.map(({ payload }) => modern(payload))
      return payloads.every((one) => one !== undefined) ? payloads : undefined
    }
    const described = [...messagesOf('receive'), ...messagesOf('send')]
    return [
      {
        path: channel.address,
        doc: [channel.summary, channel.summary && channel.description ? '' : undefined, channel.description],
        isDeprecated: described.length > 0 && described.every(({ deprecated }) => deprecated === true),
        // Of the client: the schemas of what it receives and of what it sends; `undefined` for strings and bytes of any content.
        received: schemasOf(messagesOf('send')),
        sent: schemasOf(messagesOf('receive')),
        query: modern(ws.query),
        headers: withoutHandshake(modern(ws.headers)),
        protocols: Array.isArray(channel['x-subprotocols']) ? channel['x-subprotocols'].map(String) : [],
      },
    ]
  })
  if (Object.keys(added).length === 0) return { document: api, routes }
  const { components } = api
  return { document: { ...api, components: { ...components, schemas: { ...components?.schemas, ...added } } }, routes }
}

/** The headers without those of the handshake: the runtime has a separate argument for sub-protocols. */
function withoutHandshake(headers: Schema | undefined): Schema | undefined {
  if (typeof headers !== 'object') return undefined
  const isOther = (name: string) => !/^sec-websocket-/i.test(name)
  const properties = Object.entries(headers.properties ?? {}).filter(([name]) => isOther(name))
  if (properties.length === 0) return undefined
  return { ...headers, properties: Object.fromEntries(properties), required: (headers.required ?? []).filter(isOther) }
}

/** The names of schemas next to those of the other document, and the new schemas. Two different schemas with one name become two. */
function withNames(schemas: { readonly [name: string]: Schema }, there: { readonly [name: string]: Schema }) {
  const names = new Map(Object.keys(schemas).map((name) => [name, name]))
  const isOther = (name: string) => {
    const other = Object.hasOwn(there, name) ? there[name] : undefined
    return other !== undefined && !isDeepStrictEqual(rewritten(schemas[name], names), rewritten(other, new Map()))
  }
  const isTaken = (name: string) => Object.hasOwn(there, name) || Object.hasOwn(schemas, name)
  // A schema that refers to a renamed one also differs.
  for (let count = -1; count !== differing(names); ) {
    count = differing(names)
    for (const [name, now] of names)
      if (name === now && isOther(name)) names.set(name, freeName(`${name}Message`, isTaken))
  }
  const added: Json = {}
  for (const [name, now] of names) if (!Object.hasOwn(there, now)) added[now] = rewritten(schemas[name], names)
  return { names, added }
}

const differing = (names: ReadonlyMap<string, string>) => [...names].filter(([name, now]) => name !== now).length

const place = '#/components/schemas/'

/** A schema of draft 7 in the form for the printer, with references to the current names of components. */
function rewritten(schema: unknown, names: ReadonlyMap<string, string>): unknown {
  if (!isObject(schema)) return schema
  const within = (one: unknown) => rewritten(one, names)
  const copy: Json = {}
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === '$ref' && typeof value === 'string' && value.startsWith(place)) {
      const name = value.slice(place.length)
      copy.$ref = place + (names.get(name) ?? name)
    } else if (keyword === 'items' && Array.isArray(value)) copy.prefixItems = value.map(within)
    else if (keyword === 'additionalItems') copy.items = within(value)
    // Members may have any name, even that of a keyword; values are not schemas.
    else put(copy, keyword, changeSchemas(keyword, value, within))
  }
  const { $ref, ...beside } = copy
  if ($ref === undefined || Object.keys(beside).length === 0) return copy
  // The form that draft 7 requires.
  return { ...beside, allOf: [{ $ref }, ...(Array.isArray(beside.allOf) ? beside.allOf : [])] }
}
