import type { Kernel } from '../../kernel/index.ts'
import type { Context } from '../../kernel/plugin/context.ts'
import type { FullListing } from '../../plugins/shared/development/inspection.ts'
import type { Substitutes } from '../../plugins/shared/development/substitutes.ts'
import { messageOf } from '../../plugins/shared/values/safely.ts'
import { CommandFailure } from '../failure.ts'

type Definition = FullListing['plugins'][number]['definition'] & { readonly health?: unknown }

/** The plugins whose ways in cannot be seen, by name, with the reason. */
export type Unseen = Map<string, string>

/** Stands where a plugin that is not set up may respond: it has something under its prefix. */
export const nothing = (): void => {}

/**
 * Lets the boot of a server run only the setups that add routes and need no other machine. There are no connections and no listeners
 * afterwards, but all routes and all middlewares are in their places.
 */
export function lookOnly(server: Kernel): Unseen {
  const unseen: Unseen = new Map()
  const isStandIn = (service: PropertyKey) =>
    (server.listing as FullListing).plugins.some(
      ({ definition, services }) => services.includes(service as string) && !isSetUp(definition),
    )
  ;(server.settings.substitutes as Substitutes).redefine(server, (plugin: Definition) => ({
    ...plugin,
    async setup(ctx, settings, services) {
      if (isSetUp(plugin)) {
        const alone = onlyRoutes(ctx as Context, isStandIn)
        try {
          await plugin.setup?.(alone, settings, services)
        } catch (error) {
          unseen.set(plugin.name, `its setup fails: ${messageOf(error)}`)
        }
      } else {
        if (plugin.access === undefined) unseen.set(plugin.name, 'it talks to other servers (health, memory)')
        else ctx.use(Object.defineProperty(() => {}, 'name', { value: plugin.name }))
      }
      if (unseen.has(plugin.name) || !isSetUp(plugin)) ctx.fallback('/', nothing)
    },
  }))
  return unseen
}

/** Whether the setup of a plugin runs here. @throws CommandFailure for a description with a mistake: it would hide the plugin. */
function isSetUp({ name, access, health, memory }: Definition): boolean {
  const wrong = Object.keys(Object(access)).find((one) => !['routes', 'guards', 'ways'].includes(one))
  if (wrong !== undefined || (access !== undefined && access !== false && typeof access !== 'object')) {
    const what = wrong === undefined ? '' : `, not "${wrong}"`
    throw new CommandFailure(`the plugin "${name}": access takes false or { routes, guards, ways }${what}`)
  }
  if (access !== undefined) return access !== false && access.routes === true
  return health === undefined && (memory === undefined || memory === true)
}

/** A context whose ready and listen hooks never run, with stand-ins for services that no plugin has opened. */
function onlyRoutes(ctx: Context, isStandIn: (service: PropertyKey) => boolean): Context {
  for (const hook of ['onReady', 'onListen', 'onLead']) Object.defineProperty(ctx, hook, { value: nothing })
  const store = ctx.services
  const methods: Readonly<Record<PropertyKey, unknown>> = {
    get: (name: never) => (store.has(name) && !isStandIn(name) ? store.get(name) : standIn),
    find: (name: never) => (isStandIn(name) ? standIn : store.find(name)),
    has: (name: never) => store.has(name),
    names: () => store.names(),
  }
  const get = (_: unknown, name: PropertyKey) =>
    isStandIn(name) ? standIn : (methods[name] ?? Reflect.get(store, name, store))
  return Object.defineProperty(ctx, 'services', { value: new Proxy(store, { get }) })
}

/** A service that does nothing, whatever is asked of it: each member is a function, which returns the same again. */
const standIn: object = new Proxy(anything, {
  get: (_, name) => {
    // It can be awaited, and is then itself; it is an empty list, and an empty text.
    if (name === 'then') return undefined
    if (name === Symbol.iterator || name === Symbol.asyncIterator) return () => [].values()
    return name === Symbol.toPrimitive ? () => '' : standIn
  },
  apply: () => standIn,
  construct: () => standIn,
})

/** Not an arrow function, which `new` refuses. */
function anything(): void {}
