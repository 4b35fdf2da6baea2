import { defineErrors } from '../../../kernel/index.ts'
import { runningServer } from '../values/running-server.ts'
import { haveSeveral } from './contexts.ts'

export const { WorkServerError, WorkClosedError } = defineErrors({
  WorkClosedError: (what: string, server: object) =>
    `${what} belongs to the server ${(server as { readonly url?: string }).url}, which has closed. Publish in onDrain, end the work when its signal or server.closing aborts, or raise closeTimeout`,
  WorkServerError: (what: string, servers: number, remedy: string) =>
    `${what} could belong to ${servers} servers of this process, and none of them is running this code. ${remedy}`,
})

const all = new Set<Mounts<object>>()

function noteServers(): void {
  const most = Math.max(...[...all].map(({ size }) => size))
  haveSeveral(most > 1, most > 0)
}

/** The servers of this process that do one kind of work, each with its own service: they share nothing of it. */
export class Mounts<Service extends object> {
  readonly #open = new Map<object, Service>()
  /** Those of closed servers as well. */
  readonly #services = new WeakMap<object, Service>()
  readonly #remedy: string

  /** `remedy`: how a caller says which server it means. */
  constructor(remedy: string) {
    this.#remedy = remedy
    all.add(this)
  }

  get size(): number {
    return this.#open.size
  }

  /** Adds the service of a server; returns the function that removes it, and what `owned` has of the server. */
  mount(server: object, service: Service, ...owned: { forget(server: object): void }[]): () => void {
    this.#open.set(server, service)
    this.#services.set(server, service)
    noteServers()
    return () => {
      if (this.#open.get(server) === service) this.#open.delete(server)
      noteServers()
      for (const one of owned) one.forget(server)
    }
  }

  /** The service of a server, even of a closed one. */
  of(server: object): Service | undefined {
    return this.#services.get(server)
  }

  /**
   * The service of a server; `undefined` if it has none.
   *
   * @throws WorkClosedError if it has closed.
   */
  open(server: object, what: string): Service | undefined {
    const own = this.#open.get(server)
    if (own === undefined && this.#services.has(server)) throw WorkClosedError(what, server)
    return own
  }

  /**
   * The service that a call means: that of the server whose hook, request or job is running, else the only one; `undefined` without any.
   *
   * @throws WorkServerError if it could be one of several; WorkClosedError for what a closed server has begun, which is not work of another one.
   */
  current(what: string): Service | undefined {
    const server = runningServer()
    const own = server && this.open(server, what)
    if (own !== undefined || this.size === 0) return own
    if (this.size > 1) throw WorkServerError(what, this.size, this.#remedy)
    return this.#open.values().next().value
  }
}
