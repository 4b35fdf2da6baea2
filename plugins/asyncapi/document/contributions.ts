import { defineErrors, type Kernel, type ListedPlugin, type ListedRoute } from '../../../kernel/index.ts'
import { faultOf } from '../../shared/descriptions/options.ts'
import { isObject } from '../../shared/values/json.ts'
import { messageOf } from '../../shared/values/safely.ts'
import type { AsyncApiChannel, AsyncApiExchange, AsyncApiFragment } from '../types.ts'

const { AsyncApiFragmentError } = defineErrors({
  AsyncApiFragmentError: (owner: string, what: string) =>
    `the plugin "${owner}" describes messages incorrectly: ${what}`,
})

/** The channels of one plugin, or the reason why they cannot be described. */
export interface Contribution {
  readonly plugin: string
  readonly channels: readonly AsyncApiChannel[]
  readonly why?: string
}

const members: readonly string[] = ['exchange', 'channels'] satisfies (keyof AsyncApiFragment)[]

/** Checks the descriptions of plugins. @throws AsyncApiFragmentError for one that has an invalid form. */
export function checkFragments(plugins: readonly ListedPlugin[]): void {
  for (const { definition } of plugins) {
    if (definition.asyncapi === undefined) continue
    const wrong = faultOf('asyncapi', definition.asyncapi, members)
    if (wrong !== undefined) throw AsyncApiFragmentError(definition.name, wrong)
  }
}

/** Returns the channels of all plugins that are not routes; a plugin that fails loses only its own channels. */
export function contributionsOf(server: Kernel): Contribution[] {
  return server.listing.plugins.flatMap(({ definition, settings }) => {
    const { name: plugin, asyncapi } = definition
    if (asyncapi?.channels === undefined) return []
    try {
      const channels: unknown = asyncapi.channels({ server, settings })
      const isList =
        Array.isArray(channels) &&
        channels.every((one) => isObject(one) && typeof one.address === 'string' && isExchange(one))
      if (isList) return [{ plugin, channels }]
      return [{ plugin, channels: [], why: 'its description of the channels is not a list' }]
    } catch (error) {
      return [{ plugin, channels: [], why: `it failed to list its channels: ${messageOf(error)}` }]
    }
  })
}

/** Returns the descriptions of a route by the plugins that reach it. */
export function exchangesOf({ record, reachedBy }: ListedRoute, note: (why: string) => void): AsyncApiExchange[] {
  const { method, path, options } = record
  return [...reachedBy.values()].flatMap(({ definition, settings }) => {
    try {
      const said: unknown = definition.asyncapi?.exchange?.({ method, path, options, settings })
      if (said === undefined) return []
      if (isExchange(said)) return [said]
      note(
        `the description that the plugin "${definition.name}" gives of its messages is not an object with a protocol`,
      )
    } catch (error) {
      note(`the plugin "${definition.name}" failed to describe it: ${messageOf(error)}`)
    }
    return []
  })
}

function isExchange(value: unknown): value is AsyncApiExchange {
  if (!isObject(value) || typeof value.protocol !== 'string') return false
  return [value.receive, value.send].every(
    (list) =>
      list === undefined || (Array.isArray(list) && list.every((one) => isObject(one) && typeof one.name === 'string')),
  )
}

/** Returns all parts that distinguish contributions: strings and numbers by value, schemas by identity. */
export function partsOf(value: unknown, depth = 0): unknown[] {
  if (typeof value !== 'object' || value === null || depth > 8) return [value]
  if (Array.isArray(value)) return [value.length, ...value.flatMap((one) => partsOf(one, depth + 1))]
  return Object.entries(value).flatMap(([name, one]) =>
    name === 'payload' || name === 'data' ? [name, one] : [name, ...partsOf(one, depth + 1)],
  )
}
