import { AssertionError } from 'node:assert'
import { type Kernel, systemClock } from '../../../kernel/index.ts'
import { option } from '../../shared/options/index.ts'
import { watchCalls } from './calls.ts'
import { type Leak, lineOf } from './leak.ts'
import { type Resource, type Watched, watchNode } from './resources.ts'

/** Options of `trackLeaks`. */
export interface LeakOptions {
  /** Milliseconds for which resources may still end by themselves: a socket closes after its server. Default 1000. */
  readonly patience?: number
  /** Returns true for a resource that may stay, such as a connection that all tests of a file share. */
  readonly ignore?: (leak: Leak) => boolean
}

const leakOptions = option.shape({
  patience: option.ms().default(1000),
  ignore: option.value<(leak: Leak) => boolean>('a function', (given) => typeof given === 'function'),
})

/**
 * Watches timers, sockets, servers, workers, child processes and file watchers from now on, to name those that outlive a server: the plugin
 * that made each, and the line.
 *
 * Create it before the server, and ask after `close()`. It sees the whole process, so tests that run side by side see each other's. A
 * timer that was `unref`ed and fires once is not a leak. On Node.js it sees whatever the runtime makes; on Bun and Deno, timers of the
 * globals and of the framework's clock, sockets, servers, child processes and workers of the modules of Node.js, and servers of the runtime itself.
 *
 * @throws OptionError.
 * @example
 * const leaks = trackLeaks()
 * const application = new Server({ port: 0, plugins: { cache: true } })
 * await application.listen()
 * await application.close()
 * await leaks.assertNone()
 * leaks.stop()
 */
export function trackLeaks(options?: LeakOptions): LeakTracker {
  const { patience, ignore } = leakOptions.parse(options, 'trackLeaks')
  const { bun, deno } = process.versions as { readonly [runtime: string]: string | undefined }
  const watch = bun === undefined && deno === undefined ? watchNode : watchCalls
  return new LeakTracker(watch(), { patience, ignore })
}

/** What a test runner makes to wait: its stack may have the line that awaits it. */
const ofRunner = /^(?:.*(?:node:\S+|\(<anonymous>\))\n)*.*(?:node_modules\/vitest\/|internal\/test_runner\/test:)/

/**
 * The resources that were made since `trackLeaks`.
 *
 * @example
 * const tracker: LeakTracker = trackLeaks()
 * for (const { kind, plugin, place } of await tracker.find()) console.log(kind, plugin, place)
 * tracker.stop()
 */
export class LeakTracker implements AsyncDisposable {
  readonly #watched: Watched
  readonly #options: LeakOptions & { readonly patience: number }

  /** @internal */
  constructor(watched: Watched, options: LeakOptions & { readonly patience: number }) {
    this.#watched = watched
    this.#options = options
  }

  /**
   * Resolves with the resources that do not end within the patience; with a server, without those of the plugins of other servers.
   * If there are none, it takes no longer than two turns of the event loop.
   */
  async find(server?: Kernel): Promise<readonly Leak[]> {
    const end = systemClock.monotonic() + this.#options.patience
    for (;;) {
      // The hooks report what has ended in a later turn.
      await systemClock.sleep(0)
      await systemClock.sleep(0)
      const found = this.#leaks(server)
      if (found.length === 0 || systemClock.monotonic() >= end) return found
      await systemClock.sleep(20)
    }
  }

  #leaks(server: Kernel | undefined): Leak[] {
    const isMeant = ({ owner, place, stack }: Resource['maker']) =>
      // Without either, it is the runtime's or the test runner's.
      (owner?.plugin ?? place) !== undefined &&
      !ofRunner.test(stack) &&
      (server === undefined || owner?.server === undefined || owner.server === server)
    const found = new Map<string, Leak>()
    const all = [...this.#watched.alive()].filter((one) => one.stays() && isMeant(one.maker))
    const children = new Set(all.filter(({ kind }) => kind === 'child process').map(({ maker }) => maker.nearest))
    for (const { kind, maker, to } of all) {
      // The output of a child ends with it.
      if (kind === 'pipe' && children.has(maker.nearest)) continue
      const leak = { kind, plugin: maker.owner?.plugin, place: maker.nearest, to, count: 1 }
      const name = lineOf(leak)
      found.set(name, { ...leak, count: (found.get(name)?.count ?? 0) + 1 })
    }
    return [...found.values()].filter((leak) => this.#options.ignore?.(leak) !== true)
  }

  /**
   * Resolves if there are none, and rejects otherwise.
   *
   * @throws (as a rejection) the AssertionError of Node.js, whose message names each with its plugin and its line.
   */
  async assertNone(server?: Kernel): Promise<void> {
    const actual = await this.find(server)
    if (actual.length === 0) return
    const lines = actual.map((leak) => `\n- ${lineOf(leak)}`).join('')
    const message = `${actual.length === 1 ? 'one resource is' : `${actual.length} resources are`} still in use:${lines}\nEnd them in an onClose hook of the plugin that made them, or close the server`
    throw new AssertionError({ message, actual, expected: [], operator: 'leaks' })
  }

  /** Ends the watching. */
  stop(): void {
    this.#watched.stop()
  }

  /** The same as `assertNone` and `stop`, for `await using leaks = trackLeaks()`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.assertNone().finally(() => this.stop())
  }
}
