import type { Names } from '../../shared/descriptions/names.ts'
import { plainName } from '../../shared/schema/names.ts'
import type { Direction } from '../../shared/schema/self-description.ts'
import type { Json } from '../../shared/values/json.ts'
import type { AsyncApiExchange, AsyncApiMessage } from '../types.ts'

/** Registers a schema of any kind; `what` describes its owner, for the name of the schema and for notes. */
export type Use = (schema: object, direction: Direction, what: string) => unknown

/** Returns the messages of one side of a channel from all its descriptions, each message once. */
export function messagesOf(exchanges: readonly AsyncApiExchange[], side: 'receive' | 'send'): AsyncApiMessage[] {
  const all: AsyncApiMessage[] = []
  for (const message of exchanges.flatMap((one) => one[side] ?? [])) {
    const isThere = all.some(
      ({ name, payload, data }) => name === message.name && payload === message.payload && data === message.data,
    )
    if (!isThere) all.push(message)
  }
  const known = all.filter((one) => !one.fallback)
  return known.length > 0 ? known : all
}

/** Returns the messages of one side in the form that a channel contains, with their keys. */
export function describeMessages(
  messages: readonly AsyncApiMessage[],
  side: 'receive' | 'send',
  { names, use, more }: { readonly names: Names; readonly use: Use; readonly more: Json },
): [key: string, message: Json][] {
  // A received message is described as the input of the schema, and a sent one as its output.
  const direction = side === 'receive' ? 'input' : 'output'
  return messages.map((message) => {
    const { name, summary, description, payload, data, optional } = message
    const key = names.claim(plainName(name), side === 'receive' ? 'Received' : 'Sent')
    const about = { name, summary, description, ...more }
    if (data !== undefined) {
      const envelope = {
        type: 'object',
        properties: { type: { type: 'string', const: name }, data: use(data, direction, name) },
        required: optional ? ['type'] : ['type', 'data'],
      }
      return [key, { ...about, contentType: 'application/json', payload: envelope }]
    }
    if (payload === undefined) return [key, { ...about, description: description ?? 'Any content.' }]
    return [key, { ...about, contentType: 'application/json', payload: use(payload, direction, name) }]
  })
}
