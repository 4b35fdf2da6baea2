import { defineErrors } from '../support/errors.ts'
import { nearest } from '../support/nearest.ts'

/** The services that plugins provide, by name; each plugin merges its own line into this interface. */
// biome-ignore lint/suspicious/noEmptyInterface: open for merging
export interface Services {}

export const { ServiceMissingError, ServiceProvidedTwiceError, ServiceNameError } = defineErrors({
  ServiceMissingError: (name: string, near: string | undefined, there: string) => {
    const remedy =
      near === undefined
        ? `Register the plugin that provides it, for example plugins: [${name}()]`
        : `Did you mean "${near}"? Otherwise register the plugin that provides "${name}"`
    return `there is no service "${name}" here. ${remedy}. Provided here: ${there}`
  },
  ServiceProvidedTwiceError: (name: string, first: string, second: string) =>
    `the service "${name}" is provided by "${first}" and by "${second}". Remove one, or register it in a scope of its own (scoped: true, or a prefix)`,
  ServiceNameError: (name: string, plugin: string) =>
    `the plugin "${plugin}" provides a service named "${name}", which the store keeps for itself. Rename it`,
})
export const { ServiceUndefinedError } = defineErrors({
  ServiceUndefinedError: (name: string, plugin: string) =>
    `the plugin "${plugin}" provides the service "${name}", which is undefined. Leave the name out where there is nothing to provide`,
})

const reserved = new Set(['get', 'find', 'has', 'provide', 'names', 'constructor', '__proto__', 'then'])

/**
 * The services of one scope and of its ancestors, the nearest scope first.
 *
 * Each service is also a property (`services.audit`), which is `undefined` when no plugin provides the service; `get` throws.
 */
export class ServiceStore {
  readonly #parent: ServiceStore | undefined
  readonly #own = new Map<string, { value: unknown; plugin: string }>()

  constructor(parent?: ServiceStore) {
    this.#parent = parent
    // Properties of the ancestors show through, including those provided later.
    const own = Object.getOwnPropertyDescriptors(ServiceStore.prototype) as PropertyDescriptorMap
    if (parent !== undefined) Object.setPrototypeOf(this, Object.create(parent, own))
  }

  /** Returns the service, or throws an error that names the remedy. */
  get<Name extends keyof Services & string>(name: Name): Services[Name] {
    const found = this.#lookup(name)
    if (found === undefined) {
      const names = this.names()
      throw ServiceMissingError(name, nearest(name, names), names.length === 0 ? 'nothing' : names.join(', '))
    }
    return found.value as Services[Name]
  }

  /** Returns the service, or `undefined` if no plugin provides it. */
  find<Name extends keyof Services & string>(name: Name): Services[Name] | undefined {
    return this.#lookup(name)?.value as Services[Name] | undefined
  }

  /** Whether this scope or an outer one has a service of that name. */
  has(name: string): boolean {
    return this.#lookup(name) !== undefined
  }

  /** The names of all services that are available here, sorted. */
  names(): string[] {
    const all = new Set([...(this.#parent?.names() ?? []), ...this.#own.keys()])
    return [...all].sort()
  }

  /** Adds services to this scope, all of them or none. @internal */
  provide(services: object, plugin: string): void {
    for (const [name, value] of Object.entries(services)) {
      if (reserved.has(name)) throw ServiceNameError(name, plugin)
      if (value === undefined) throw ServiceUndefinedError(name, plugin)
      const there = this.#own.get(name)
      if (there !== undefined) throw ServiceProvidedTwiceError(name, there.plugin, plugin)
    }
    for (const [name, value] of Object.entries(services)) {
      this.#own.set(name, { value, plugin })
      Object.defineProperty(this, name, { value, enumerable: true })
    }
  }

  #lookup(name: string): { value: unknown } | undefined {
    return this.#own.get(name) ?? (this.#parent === undefined ? undefined : this.#parent.#lookup(name))
  }
}
