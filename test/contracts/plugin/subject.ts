import assert from 'node:assert/strict'
import {
  definePlugin,
  type PluginFactory,
  type PluginNode,
  type Registration,
  RouteCollection,
  Server,
  type ServerOptions,
} from 'framework'
import { type Entry, memoryLogger } from '../../support/kernel.ts'
import type { PluginTestOptions } from './options.ts'

export type AnyFactory = PluginFactory<unknown, object>
export type AnyServer = Server<{ plugins: {} }> & { readonly log: readonly Entry[] }

const host = { port: 0, host: '127.0.0.1', gracefulShutdown: false, drainWindow: 0, closeTimeout: 1_000 } as const

/** A plugin under test, and servers that have it. */
export class Subject {
  readonly factory: AnyFactory
  readonly test: PluginTestOptions<unknown>
  readonly #servers: Server[] = []

  constructor(factory: AnyFactory, test: PluginTestOptions<unknown>) {
    this.factory = factory
    this.test = test
  }

  get name(): string {
    return this.factory.plugin.name
  }

  /** The valid options, with others in their place. */
  async options(more: object = {}): Promise<unknown> {
    const { options } = this.test
    const valid: unknown = await (typeof options === 'function' ? options() : options)
    return Object.keys(more).length === 0 ? valid : { ...(valid as object), ...more }
  }

  /** A registration with the valid options. */
  async registration(register?: { prefix: string }): Promise<Registration> {
    return this.factory(await this.options(), register)
  }

  /** What must be registered before the plugin. */
  others(): Registration[] {
    return (this.test.with ?? []).map((one) => one())
  }

  /** A server with the plugin and what it depends on. */
  async server(): Promise<AnyServer> {
    return this.serverOf([...this.others(), await this.registration()])
  }

  serverOf(plugins: ServerOptions['plugins'], more: ServerOptions = {}): AnyServer {
    const logger = memoryLogger()
    const server = new Server({ ...host, logger, router: new RouteCollection(), plugins, ...more } as {})
    this.#servers.push(server)
    server.get('/of-the-test', () => 'the route of the test')
    return Object.assign(server, { log: logger.entries }) as unknown as AnyServer
  }

  /** Uses the plugin as its author says. */
  async use(server: AnyServer): Promise<void> {
    await this.test.use?.(server)
  }

  /** The plugin in the tree of a server. */
  nodesOf(server: AnyServer): PluginNode[] {
    const all = (node: PluginNode): PluginNode[] => [node, ...node.children.flatMap(all)]
    return all(server.plugins).filter(({ name }) => name === this.name)
  }

  /** Closes servers that a failed check has left. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#servers.splice(0).map((server) => server.close()))
  }
}

/** A scope under a path, with a route and with plugins. */
export const scopeOf = (name: string, plugins: readonly Registration[]): Registration =>
  definePlugin({
    name,
    prefix: `/${name}`,
    setup(ctx) {
      for (const plugin of plugins) ctx.register(plugin)
      ctx.get('/route', () => `the route of ${name}`)
    },
  })()

/** What a client sees of a path, and what runs for it: the same with and without a plugin that does not reach the path. */
export async function seenAt(server: AnyServer, path: string): Promise<unknown> {
  const { status, headers, body } = await server.inject({ method: 'GET', url: path })
  const { steps } = server.explain('GET', path)
  const kept = Object.entries(headers).filter(([name]) => !['date', 'x-request-id'].includes(name))
  return {
    status,
    headers: Object.fromEntries(kept),
    body: new TextDecoder().decode(body),
    steps: steps.map(({ name, plugin }) => `${name} of ${plugin}`),
  }
}

/** Rejects unless a promise settles in time. */
export async function inTime<Result>(promise: Promise<Result>, ms: number, message: string): Promise<Result> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new assert.AssertionError({ message })), ms)
  })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}
