import { AsyncLocalStorage } from 'node:async_hooks'
import { frameIn, type Kernel, type PluginTrace, placeIn, type StepTrace } from '../../../kernel/index.ts'
import { followChannel, heldChannel } from '../../shared/development/held-channel.ts'
import type { FullListing } from '../../shared/development/inspection.ts'

/** Whose `provide`, `setup`, hook or handler is running, and what follows from it. */
export interface Owner {
  /** `undefined`: the application. */
  readonly plugin: string | undefined
  /** `undefined` in a script. */
  readonly server: object | undefined
}

type Declaring = { readonly declared: { handler: (...args: unknown[]) => unknown } }

/** Follows which plugin is at work; `stop` ends it, as a storage in use makes every promise of Node.js 20 slower. */
export function followOwners() {
  const storage = new AsyncLocalStorage<Owner>()
  const ends: (() => unknown)[] = []
  const enterAt = <Event>(name: string, owner: (event: Event) => Owner) => {
    const entered = heldChannel(name)
    entered.bindStore(storage, owner as (event: unknown) => Owner)
    ends.push(() => entered.unbindStore(storage))
  }
  enterAt<PluginTrace>('tracing:framework:plugin:start', ({ plugin, server }) => ({ plugin, server }))
  enterAt<StepTrace>('framework:step', ({ plugin, request }) => handlerOf(plugin, request.server))
  enterAt<PluginTrace>('tracing:framework:websocket.handler:start', ({ plugin, server }) => handlerOf(plugin, server))
  // Not the plugin that has started the worker: the handler is the application's, unless a plugin has declared it.
  for (const kind of ['queue.attempt', 'cron.run', 'mqtt.message'])
    enterAt<Owner>(`tracing:framework:${kind}:start`, ({ server }) => ({ plugin: undefined, server }))
  const declare = ({ declared }: Declaring) => {
    const { plugin, server } = storage.getStore() ?? {}
    const { handler } = declared
    if (plugin !== undefined)
      declared.handler = (...args) => storage.run(handlerOf(plugin, server), () => handler(...args))
  }
  ends.push(followChannel('framework:declaration', declare), () => storage.disable())
  return { current: () => storage.getStore(), stop: () => ends.forEach((end) => void end()) }
}

/**
 * Whose a handler is. A middleware alone has an entry of its own in the tree, and is the application's, and so is what plugins of the
 * framework call: a resolver, a policy.
 */
function handlerOf(name: string, server: object | undefined): Owner {
  const { listing, settings } = server as Kernel
  const isPlugin = (listing as FullListing).plugins.some(({ scope }) => scope.findPlugin(name) !== undefined)
  return { plugin: isPlugin && !settings.catalog.names.includes(name) ? name : undefined, server }
}

/** How many steps are kept that have led to a resource: a timer that sets itself again has one more each time. */
const maxSteps = 16

/** What made a resource: a plugin, if one was at work, and a place in the code. */
export class Maker {
  readonly owner: Owner | undefined
  readonly #steps: number = 0
  #from: Maker | undefined
  readonly #error: Error
  #own: string | undefined

  /** `by`: what made the resource whose callback makes this one. */
  constructor(owner: Owner | undefined, by?: Maker) {
    this.owner = owner ?? by?.owner
    this.#from = by === undefined || by.#steps < maxSteps ? by : by.#named
    this.#steps = this.#from === undefined ? 0 : this.#from.#steps + 1
    const limit = Error.stackTraceLimit
    // A connection is opened below some thirty frames of its package and of the framework.
    Error.stackTraceLimit = 50
    this.#error = new Error('made here')
    Error.stackTraceLimit = limit
  }

  /** The stack. It is formatted, which takes some 50 µs, only for what is still alive. */
  get stack(): string {
    const { stack = '' } = this.#error
    // Without the frames of the watching itself.
    return stack.slice(Math.max(0, stack.indexOf('node:internal/async_hooks')))
  }

  /** The first place in its own stack that is outside the framework and of packages. */
  get own(): string | undefined {
    this.#own ??= placeIn(this.stack, '/node_modules/') ?? ''
    return this.#own || undefined
  }

  /** The nearest step that has such a place. What has led to that one no longer matters. */
  get #named(): Maker | undefined {
    if (this.own === undefined) return this.#from === undefined ? undefined : this.#from.#named
    this.#from = undefined
    return this
  }

  /** The place of the nearest step that has one. */
  get place(): string | undefined {
    return this.#named?.own
  }

  /** The same, or the nearest place in a package or in the framework. */
  get nearest(): string {
    const [frame] = this.stack.split('\n').flatMap((line) => frameIn(line) ?? [])
    return this.place ?? frame?.place ?? 'an unknown place'
  }
}
