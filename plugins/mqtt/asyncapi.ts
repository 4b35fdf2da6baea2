import type { AsyncApiChannel } from '../asyncapi/index.ts'
import { type Declared, declarations } from './subscriptions/declarations.ts'
import type { Filter } from './topics/filter.ts'

/** A filter as an address: each wildcard is a parameter. */
function addressOf({ levels }: Filter): Pick<AsyncApiChannel, 'address' | 'parameters'> {
  const parameters: { [name: string]: { description: string } } = {}
  const parts = levels.map((level, at) => {
    if (level !== '+' && level !== '#') return level
    const name = level === '#' ? 'rest' : `level${at + 1}`
    parameters[name] = { description: level === '#' ? 'All further levels of the topic.' : 'One level of the topic.' }
    return `{${name}}`
  })
  return { address: parts.join('/'), ...(Object.keys(parameters).length > 0 && { parameters }) }
}

/** For the description of messages: each topic that this process subscribes to. */
export function channels(): AsyncApiChannel[] {
  const filters = new Map<string, Declared[]>()
  for (const declared of declarations.all) {
    const { text } = declared.filter
    filters.set(text, [...(filters.get(text) ?? []), declared])
  }
  return [...filters].map(([text, all]) => ({
    ...addressOf(all[0]!.filter),
    protocol: 'mqtt',
    receive: all.map(({ options: { schema } }) => ({
      name: 'message',
      ...(schema === undefined ? { description: 'Text, JSON or bytes of any content.' } : { payload: schema }),
    })),
    'x-filter': text,
    // The most of what the handlers ask for is what the broker is asked for.
    operationBindings: {
      mqtt: { qos: Math.max(...all.map(({ options }) => options.qos ?? 0)), bindingVersion: '0.2.0' },
    },
  }))
}
