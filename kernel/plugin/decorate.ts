import { KernelRequest } from '../http/request/request.ts'
import { KernelResponse } from '../http/response/response-buffer.ts'
import { defineError } from '../support/errors.ts'
import type { PluginEntry } from './scope.ts'

const DecorateError = defineError(
  'DecorateError',
  (plugin: string, what: string) => `the plugin "${plugin}" decorates ${what}`,
)

const nothing = {} as never

/** Fields that each object has of its own hide the members of its class, so decorating them would have no effect. */
const fields: Record<string, object> = {
  request: new KernelRequest(nothing, nothing, nothing, nothing, nothing),
  response: new KernelResponse(nothing),
}

/** Anything without one of these keys, such as a function, would add a member that is `undefined`. */
const isDescriptor = (given: unknown): boolean =>
  typeof given === 'object' && given !== null && ['get', 'set', 'value'].some((one) => one in given)

/** The plugin that added each member, by the class that has it. */
const owners = new WeakMap<object, Map<string, PluginEntry>>()

/**
 * Installs members on the class of one server's requests or responses. A getter of the kernel, `ip` for example, may be
 * replaced once; a member of another plugin may not. A plugin that is registered in several scopes adds its members once.
 */
export function decorate(prototype: object, target: string, members: PropertyDescriptorMap, entry: PluginEntry): void {
  if (!Object.hasOwn(fields, target)) {
    throw DecorateError(entry.name, `"${target}"; it takes "request" or "response"`)
  }
  const added = owners.get(prototype) ?? new Map<string, PluginEntry>()
  owners.set(prototype, added)
  for (const [name, descriptor] of Object.entries(members)) {
    const fail = (why: string) => DecorateError(entry.name, `the ${target} with "${name}", which ${why}`)
    const owner = added.get(name)
    if (owner?.definition === entry.definition && owner !== entry) continue
    if (Object.hasOwn(prototype, name)) {
      const first = owner === undefined ? 'the kernel' : `the plugin "${owner.name}" (registered at ${owner.site})`
      throw fail(`${first} already added. Choose another name`)
    }
    if (Object.hasOwn(fields[target]!, name)) throw fail('is a field of the kernel. Choose another name')
    if (!isDescriptor(descriptor)) throw fail('is not a property descriptor: { get() { … } } or { value: … }')
    Object.defineProperty(prototype, name, { configurable: true, ...descriptor })
    added.set(name, entry)
  }
}
