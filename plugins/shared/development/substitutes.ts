import {
  ArgumentsError,
  CallSite,
  defineErrors,
  didYouMean,
  type Kernel,
  type PluginDefinition,
} from '../../../kernel/index.ts'
import { reportedTogether } from '../../../kernel/support/errors.ts'
import { madeIn } from '../values/memoize.ts'

type Definition = PluginDefinition<never, object>

export const { PluginOutsideError, ReplacedServiceError, TestedServerError } = defineErrors({
  PluginOutsideError: (name: string) =>
    `the plugin "${name}" reaches outside of the process, and has no replacement in memory. Give its definition the member "memory" (the settings with which it does not: memory: { url: "memory:" }; true if it never does), replace its services (server.replace(name, fake)), or use testServer(app, { services: "real" })`,
  ReplacedServiceError: (name: string, site: CallSite, names: readonly string[]) =>
    `replace("${name}", …) at ${site}: no plugin provides this service.${didYouMean(name, names)} Provided: ${names.join(', ') || 'nothing'}`,
  TestedServerError: (why: string) => why,
})

let making = 0

/** Makes a server whose services are in memory from the start, so that no code can read one that is replaced later. */
export async function makeInMemory<Made>(make: () => Made | Promise<Made>): Promise<Made> {
  making++
  try {
    return await make()
  } finally {
    making--
  }
}

/** A registered plugin, whose parts a test replaces. */
interface Entry {
  definition: Definition
  settings: unknown
  provided: object
  readonly name: string
  readonly services: readonly string[]
  readonly scope: { readonly services: { provide(services: object, plugin: string, isAgain: boolean): void } }
}

// The listing has the entries of the tree itself.
const entriesOf = (server: Kernel) => server.listing.plugins as unknown as readonly Entry[]

const differs = ({ memory }: Definition) => typeof memory === 'object' || typeof memory === 'function'

/** What a test uses in place of parts of one server. */
export class Substitutes {
  #isInMemory = making > 0
  #isTested = false
  #change: ((plugin: Definition) => Definition) | undefined
  readonly #fakes = new Map<string, { readonly fake: object; readonly site: CallSite; isUsed: boolean }>()
  readonly #definitions = new Map<Definition, Definition>()

  /** The settings that a plugin works with. */
  settingsOf(plugin: Definition, settings: unknown): unknown {
    if (!this.#isInMemory || !differs(plugin)) return settings
    const memory: unknown = plugin.memory
    return { ...(settings as object), ...(typeof memory === 'function' ? memory(settings) : (memory as object)) }
  }

  definitionOf<One extends Definition>(plugin: One): One {
    if (this.#change !== undefined) return madeIn(this.#definitions, plugin, this.#change) as One
    return this.#isTested ? (madeIn(this.#definitions, plugin, (one) => this.#tested(one, [])) as One) : plugin
  }

  /** Gives every plugin another definition, for a tool that boots a server without its services. */
  redefine(server: Kernel, change: (plugin: Definition) => Definition): void {
    mustNotRun(server, 'the plugins were redefined')
    this.#change = change
    for (const entry of entriesOf(server)) entry.definition = this.definitionOf(entry.definition)
  }

  /** Begins a test of a server that has not booted. */
  begin(server: Kernel, isInMemory: boolean): void {
    mustNotRun(server, 'testServer was called')
    if (this.#isTested) throw TestedServerError('testServer was called twice for one server. Make a server for each')
    const isMoving = isInMemory && !this.#isInMemory
    this.#isTested = true
    this.#isInMemory = isInMemory
    for (const entry of entriesOf(server)) {
      const { definition, provided } = entry
      entry.definition = madeIn(this.#definitions, definition, (one) => this.#tested(one, Object.keys(provided)))
      if (!isMoving || !differs(definition)) continue
      // It has connected to nothing yet: there is nothing to wait for, and a failure is of no use to a test.
      void Promise.resolve(provided)
        .then(async (unused) => definition.close?.(unused as never))
        .catch(() => {})
      entry.settings = this.settingsOf(definition, entry.settings)
      this.#provideAgain(entry, definition.provide?.(entry.settings as never) ?? {})
    }
  }

  /** Uses a fake in place of a service. */
  replace(server: Kernel, name: string, fake: unknown): void {
    mustNotRun(server, 'replace was called')
    if (typeof name !== 'string' || Object(fake) !== fake)
      throw ArgumentsError('replace', 'the name of a service, and an object in its place')
    this.#fakes.set(name, { fake: fake as object, site: new CallSite(), isUsed: false })
    for (const entry of entriesOf(server))
      if (Object.hasOwn(entry.provided, name))
        this.#provideAgain(entry, this.#faked(entry.definition, { [name]: Reflect.get(entry.provided, name) }))
  }

  #provideAgain(entry: Entry, services: object): void {
    entry.scope.services.provide(services, entry.name, true)
    entry.provided = { ...entry.provided, ...services }
  }

  /** @throws ReplacedServiceError for a fake of a service that no plugin of the server has provided by now. */
  checkFakes(server: Kernel): void {
    const names = entriesOf(server).flatMap(({ services }) => services)
    for (const [name, { site, isUsed }] of this.#fakes) if (!isUsed) throw ReplacedServiceError(name, site, names)
  }

  /** Services as others see them: with the fakes. */
  #faked(plugin: Definition, services: object): object {
    let faked = services
    for (const [name, known] of this.#fakes) {
      if (!Object.hasOwn(services, name)) continue
      known.isUsed = true
      // The rest of such a service is in memory, so that a forgotten member reaches nothing outside.
      faked = { ...faked, [name]: plugin.memory ? over(Reflect.get(services, name), known.fake) : known.fake }
    }
    return faked
  }

  /** The definition that a plugin has in a test; `names`: the services that it has provided. */
  #tested(plugin: Definition, names: readonly string[]): Definition {
    const self = this
    const areFakes = () => names.length > 0 && names.every((name) => self.#fakes.has(name))
    return {
      ...plugin,
      provide(settings) {
        const services = plugin.provide?.(settings) ?? {}
        names = Object.keys(services)
        return self.#faked(plugin, services)
      },
      setup(ctx, settings, services) {
        if (self.#isInMemory && reachesOutside(plugin) && !areFakes())
          throw reportedTogether(PluginOutsideError(plugin.name))
        const provide = ctx.provide.bind(ctx)
        ctx.provide = (name, value) => provide(name, Reflect.get(self.#faked(plugin, { [name]: value }), name))
        return plugin.setup?.(ctx, settings, services)
      },
      // A test closes its fakes itself.
      get close() {
        return areFakes() && !plugin.memory ? () => {} : plugin.close
      },
    } as Definition
  }
}

/** Whether a plugin needs something outside of the process, and has nothing that stands for it. */
const reachesOutside = ({ memory, health }: Definition & { readonly health?: unknown }) =>
  memory === undefined ? health !== undefined : memory === false

function mustNotRun(server: Kernel, what: string): void {
  if (!server.hasBegun && !server.isClosing) return
  throw TestedServerError(
    `${what} after the server has begun to boot. Do it before listen(), ready() or the first request`,
  )
}

/** A service with some members of a fake. */
function over(service: object, fake: object): object {
  return new Proxy(service, {
    get(target, name) {
      const from = name in fake && !(name in Object.prototype) ? fake : target
      const value: unknown = Reflect.get(from, name, from)
      // Members of classes have private fields, which the proxy does not have.
      return typeof value === 'function' ? value.bind(from) : value
    },
  })
}
