import { AsyncLocalStorage } from 'node:async_hooks'
import { tracingChannel } from 'node:diagnostics_channel'
import { type PluginTrace, placeIn } from '../../../kernel/index.ts'

/** Whose `provide`, `setup` or hook is running, and what follows from it. */
export interface Owner {
  readonly plugin: string
  readonly server: object
}

/** Follows which plugin is at work; `stop` ends it, as a storage in use makes every promise of Node.js 20 slower. */
export class Owners {
  readonly #storage = new AsyncLocalStorage<Owner>()
  readonly #start = tracingChannel<unknown, PluginTrace>('framework:plugin').start

  constructor() {
    this.#start.bindStore(this.#storage, ({ plugin, server }) => ({ plugin, server }))
  }

  get current(): Owner | undefined {
    return this.#storage.getStore()
  }

  stop(): void {
    this.#start.unbindStore(this.#storage)
    this.#storage.disable()
  }
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
    const frame = /(?:\(|at )(?:file:\/\/)?(\/[^()\n]+:\d+:\d+)/
    return this.place ?? frame.exec(this.stack)?.[1] ?? 'an unknown place'
  }
}
