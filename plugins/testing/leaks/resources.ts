import { createHook, executionAsyncId } from 'node:async_hooks'
import { kinds, type LeakKind } from './leak.ts'
import { followOwners, Maker } from './maker.ts'

/** Something of the runtime that is in use until it is ended. */
export interface Resource {
  readonly kind: LeakKind
  readonly maker: Maker
  /** What it is connected to, for a socket that has connected. */
  readonly to?: string | undefined
  /** Whether it will not end by itself; called only while it is alive. */
  stays(): boolean
}

/** Those made since the beginning that are alive. */
export interface Watched {
  alive(): Iterable<Resource>
  stop(): void
}

/** What only lies between the code that asks for a resource and the resource. */
const steps = new Set(['TickObject', 'GETADDRINFOREQWRAP'])

/** The part of a timer, or of what the runtime has for a socket, a process and so on. */
interface Handle {
  hasRef?(): boolean
  /** Milliseconds of an interval. */
  readonly _repeat?: number | null
  /** Whether a timer or an immediate has run. */
  readonly _destroyed?: boolean
  getpeername?(out: { address?: string; port?: number }): number
}

/** Connections that the runtime keeps for later requests, and the timers of its servers, which keep no process alive. */
const ofRuntime = /node:(?:_http_agent|_http_server|internal\/deps\/undici)/

class NodeResource implements Resource {
  readonly maker: Maker
  readonly #kind: LeakKind
  readonly #handle: WeakRef<Handle>
  /** What set the timer that has set this one. */
  readonly #before: Maker | undefined

  constructor(kind: LeakKind, handle: object, maker: Maker, by: NodeResource | undefined) {
    this.#kind = kind
    this.#handle = new WeakRef(handle)
    this.maker = maker
    if (kind === 'timer' && by?.kind === 'timer') this.#before = by.maker
  }

  get kind(): LeakKind {
    return typeof this.#handle.deref()?._repeat === 'number' ? 'interval' : this.#kind
  }

  get to(): string | undefined {
    const peer: { address?: string; port?: number } = {}
    const isKnown = this.#kind === 'socket' && this.#handle.deref()?.getpeername?.(peer) === 0
    return isKnown ? `${peer.address}:${peer.port}` : undefined
  }

  stays(): boolean {
    const handle = this.#handle.deref()
    if (handle === undefined || handle._destroyed === true) return false
    if (handle.hasRef?.() !== false) return true
    if (this.#kind === 'message port' || ofRuntime.test(this.maker.stack)) return false
    if (this.kind !== 'timer') return true
    // Set by a timer from the same place: the two are an interval.
    return this.maker.own !== undefined && this.maker.own === this.#before?.own
  }
}

/** Watches with the hooks of Node.js, which see whatever the runtime makes. */
export function watchNode(): Watched {
  const owners = followOwners()
  const makers = new Map<number, Maker>()
  const resources = new Map<number, NodeResource>()
  const hook = createHook({
    init(id, type, trigger, handle) {
      const kind = kinds[type as keyof typeof kinds] as LeakKind | undefined
      if (kind === undefined && !steps.has(type)) return
      const by = executionAsyncId()
      // A server has made the connections that it accepts, and a socket or a timer what its callback makes.
      const maker = new Maker(owners.current(), makers.get(by) ?? makers.get(trigger))
      makers.set(id, maker)
      if (kind !== undefined) resources.set(id, new NodeResource(kind, handle, maker, resources.get(by)))
    },
    destroy(id) {
      makers.delete(id)
      resources.delete(id)
    },
  }).enable()
  const stop = () => {
    hook.disable()
    owners.stop()
  }
  return { alive: () => resources.values(), stop }
}
