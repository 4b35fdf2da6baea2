import type { AsyncApiExchange, AsyncApiMessage } from '../asyncapi/index.ts'
import type { DescribedRoute } from '../openapi/index.ts'
import { flattened, schemasOf } from '../shared/schema/flat.ts'
import { nameOfAddress } from '../shared/schema/names.ts'
import { jsonSchemaOf } from '../shared/schema/standard.ts'
import { isObject } from '../shared/values/json.ts'
import type { Channel } from './channel.ts'

type Members = { readonly [name: string]: object }

const object = (properties: Members, required: readonly string[] = Object.keys(properties)) => ({
  type: 'object',
  properties,
  required,
})

const text = { type: 'string' }
const ref = { type: ['string', 'number'], description: 'Comes back in the response.' }
const author = {
  ...text,
  description: 'Sent with a later join, so that messages of this client are not sent to it again.',
}
const present = object({ id: text, user: text, data: {} }, ['id', 'data'])
const presents = { type: 'array', items: present }

/** Returns the messages that the clients of a route with channels exchange, for the AsyncAPI description. */
export function exchange({ options }: DescribedRoute): AsyncApiExchange | undefined {
  const channels = options.channels as readonly Channel[] | undefined
  if (channels === undefined || options.websocket === undefined) return undefined
  const names = anyOf(channels.map(nameOf))
  const publishing = channels.filter(({ rules }) => rules.publish !== undefined)
  const canPublish = publishing.length > 0
  const hasPresence = channels.some(({ rules }) => rules.presence !== undefined)
  const withRef = (more: Members, required: readonly string[] = Object.keys(more)) =>
    object({ channel: names, ...more, ref }, ['channel', ...required])
  const hasState = channels.some(({ rules }) => rules.state !== undefined)
  const joined = {
    id: text,
    ...(canPublish && { author }),
    ...(hasPresence && { present: presents }),
    ...(hasState && { state: {} }),
  }
  const published = publishing.map((one) =>
    object({ channel: nameOf(one), payload: payloadOf(one, 'input'), ref }, ['channel', 'payload']),
  )
  const sent = channels.map((one) => object({ channel: nameOf(one), id: text, payload: sentOf(one) }))
  const why = { code: text, message: text }
  return {
    protocol: 'ws',
    receive: messages({
      join: [
        'Joins a channel; the messages since the last one that the client has received follow.',
        withRef({ after: text, ...(canPublish && { author: text }) }, []),
      ],
      leave: ['Leaves a channel.', withRef({})],
      publish: canPublish && ['Publishes to a channel.', anyOf(published)],
    }),
    send: messages({
      message: ['A message of a channel.', anyOf(sent)],
      joined: ['The client is in the channel.', withRef(joined, [])],
      left: ['The client is no longer in the channel.', withRef({ reason: { enum: ['asked', 'removed'] } })],
      refused: [
        'The request of the client was refused.',
        object({ channel: text, ref, ...why, errors: { type: 'array', items: {} } }, ['channel', 'code', 'message']),
      ],
      gap: ['Messages are missing and cannot be sent again.', object({ channel: names, after: text, id: text })],
      published: canPublish && ['The message that the client published has this id.', withRef({ id: text })],
      presence: hasPresence && [
        'Clients have joined or left.',
        object({ channel: names, joined: presents, left: presents }),
      ],
    }),
  }
}

type Described = { readonly [type: string]: readonly [summary: string, data: object] | false }

const messages = (all: Described): AsyncApiMessage[] =>
  Object.entries(all).flatMap(([type, one]) =>
    one === false ? [] : [{ name: `channel:${type}`, summary: one[0], data: one[1] }],
  )

const anyOf = (schemas: readonly object[]) => (schemas.length === 1 ? schemas[0]! : { anyOf: schemas })

/** The names that a channel can have. */
function nameOf({ name, pattern }: Channel): object {
  if (pattern.params.length === 0) return { type: 'string', const: name }
  const parts = name.split('/').map((part) => (part.startsWith(':') ? '[^/]+' : part.replaceAll('.', '\\.')))
  return { type: 'string', pattern: `^${parts.join('/')}$`, description: name }
}

/** The schema of the payloads that clients receive: the server's as given, a client's as the schema returns it. */
function sentOf(channel: Channel): object {
  const given = payloadOf(channel, 'input')
  if (channel.rules.publish === undefined) return given
  const left = payloadOf(channel, 'output')
  return given === left || JSON.stringify(given) === JSON.stringify(left) ? given : { anyOf: [given, left] }
}

/** Returns the schema of a payload, for use inside another schema. */
function payloadOf({ name, schema }: Channel, direction: 'input' | 'output'): object {
  if (schema === undefined) return {}
  const source = jsonSchemaOf(schema, direction)
  if ('why' in source) return { description: `Not described: ${source.why}.` }
  if (!isObject(source.schema)) return {}
  const flat = flattened(source.schema).schema
  if (![...schemasOf(flat)].some(({ $ref }) => $ref !== undefined)) return source.schema
  // With an `$id` of its own, the schema's references refer to itself. Two channels may have different schemas with the same `$id`.
  const own = typeof source.schema.$id === 'string' ? nameOfAddress(source.schema.$id) : undefined
  const words = name.split(/\W+/).map((word) => word.charAt(0).toUpperCase() + word.slice(1))
  return { ...flat, $id: `channel:${name}:${direction}:${own ?? `${words.join('')}Message`}` }
}
