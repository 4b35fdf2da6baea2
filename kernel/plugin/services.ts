import { defineErrors } from '../support/errors.ts'
import { nearest } from '../support/nearest.ts'

/** The services that plugins provide, by name; each plugin merges its own line into this interface. */
// biome-ignore lint/suspicious/noEmptyInterface: open for merging
export interface Services {}

const { ServiceMissingError, ServiceProvidedTwiceError, ServiceNameError } = defineErrors({
  ServiceMissingError: (name: string, near: string | undefined, there: string) => {
    const remedy =
      near === undefined
        ? `Register the plugin that provides it, for example plugins: [${name}()]`
        : `Did you mean "${near}"? Otherwise register the plugin that provides "${name}"`
    return `there is no service "${name}" here. ${remedy}. Some come when the server boots: await server.ready(). Provided here: ${there}`
  },
  ServiceProvidedTwiceError: (name: string, first: string, second: string) =>
    `the service "${name}" is provided by "${first}" and by "${second}". Remove one, or register it in a scope of its own (scoped: true, or a prefix)`,
  ServiceNameError: (name: string, plugin: string) =>
    `the plugin "${plugin}" provides a service named "${name}", which the store keeps for itself. Rename it`,
})
const { ServiceUndefinedError, ServiceReadError } = defineErrors({
  ServiceUndefinedError: (name: string, plugin: string) =>
    `the plugin "${plugin}" provides the service "${name}", which is undefined. Leave the name out where there is nothing to provide`,
  ServiceReadError: (name: string) =>
    `the service "${name}" was read before the test replaced it, and the code that has read it would go on with the other one. Read it in setup, in a hook or in a handler, or make the server in the function that testServer calls`,
})

const reserved = new Set(['get', 'find', 'has', 'provide', 'names', 'constructor', '__proto__', 'then'])

/**
 * The services of one scope and of its ancestors, the nearest scope first.
 *
 * Each service is also a property (`services.audit`), which is `undefined` when no plugin provides the service; `get` throws.
 */
export class ServiceStore {
  readonly #parent: ServiceStore | undefined
  readonly #own = new Map<string, { readonly value: unknown; readonly plugin: string; isRead: boolean }>()

  constructor(parent?: ServiceStore) {
    this.#parent = parent
    // Properties of the ancestors show through, including those provided later.
    const own = Object.getOwnPropertyDescriptors(ServiceStore.prototype) as PropertyDescriptorMap
    if (parent !== undefined) Object.setPrototypeOf(this, Object.create(parent, own))
  }

  /** Returns the service, or throws an error that names the remedy. */
  get<Name extends keyof Services & string>(name: Name): Services[Name] {
    const found = this.#lookup(name)
    if (found !== undefined) return found.value as Services[Name]
    const names = this.names()
    throw ServiceMissingError(name, nearest(name, names), names.join(', ') || 'nothing')
  }

  /** Returns the service, or `undefined` if no plugin provides it. */
  find<Name extends keyof Services & string>(name: Name): Services[Name] | undefined {
    return this.#lookup(name)?.value as Services[Name] | undefined
  }

  /** Whether this scope or an outer one has a service of that name. */
  has(name: string): boolean {
    return this.#own.has(name) || this.#parent?.has(name) === true
  }

  /** The names of all services that are available here, sorted. */
  names(): string[] {
    return [...new Set([...(this.#parent?.names() ?? []), ...this.#own.keys()])].sort()
  }

  /** Adds services to this scope, all of them or none; `isAgain`: in place of those that the plugin has provided. @internal */
  provide(services: object, plugin: string, isAgain = false): void {
    for (const [name, value] of Object.entries(services)) {
      if (reserved.has(name)) throw ServiceNameError(name, plugin)
      if (value === undefined) throw ServiceUndefinedError(name, plugin)
      const there = this.#own.get(name)
      if (isAgain && there?.isRead) throw ServiceReadError(name)
      if (there !== undefined && !isAgain) throw ServiceProvidedTwiceError(name, there.plugin, plugin)
    }
    for (const [name, value] of Object.entries(services)) {
      this.#own.set(name, { value, plugin, isRead: false })
      Object.defineProperty(this, name, { get: () => this.#lookup(name)!.value, enumerable: true, configurable: true })
    }
  }

  #lookup(name: string): { readonly value: unknown } | undefined {
    const own = this.#own.get(name)
    if (own !== undefined) own.isRead = true
    return own ?? (this.#parent === undefined ? undefined : this.#parent.#lookup(name))
  }
}
