import type { AsyncApiChannel } from '../asyncapi/index.ts'
import { addressOfName } from '../shared/descriptions/names.ts'
import { type Declared, declarations } from './subscriptions/declarations.ts'
import type { Filter } from './topics/filter.ts'

/** A filter as an address, in which each wildcard is a parameter. */
function addressOf({ levels }: Filter): Pick<AsyncApiChannel, 'address' | 'parameters'> {
  const parameters: { [name: string]: { description: string } } = {}
  const parts = levels.map((level, at) => {
    if (level !== '+' && level !== '#') return addressOfName(level)
    const name = level === '#' ? 'rest' : `level${at + 1}`
    parameters[name] = { description: level === '#' ? 'All further levels of the topic.' : 'One level of the topic.' }
    return `{${name}}`
  })
  return { address: parts.join('/'), ...(Object.keys(parameters).length > 0 && { parameters }) }
}

/** The channels for the description of messages: each topic that this process subscribes to. */
export function channels(): AsyncApiChannel[] {
  // Keyed by filter: groups that share a subscription receive the same messages.
  const topics = new Map<string, Declared[]>()
  for (const declared of declarations.all) {
    const topic = declared.filter.levels.join('/')
    topics.set(topic, [...(topics.get(topic) ?? []), declared])
  }
  return [...topics.values()].map((all) => ({
    ...addressOf(all[0]!.filter),
    protocol: 'mqtt',
    receive: all.map(({ options: { schema } }) => ({
      name: 'message',
      ...(schema === undefined ? { description: 'Text, JSON or bytes of any content.' } : { payload: schema }),
    })),
    ...filtersOf(all),
    // What the broker receives: the highest values that the handlers request.
    operationBindings: {
      mqtt: { qos: Math.max(...all.map(({ options }) => options.qos ?? 0)), bindingVersion: '0.2.0' },
    },
  }))
}

function filtersOf(all: readonly Declared[]): { readonly 'x-filter': string | readonly string[] } {
  const filters = [...new Set(all.map(({ filter }) => filter.text))]
  return { 'x-filter': filters.length === 1 ? filters[0]! : filters }
}
