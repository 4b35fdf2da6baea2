import { type Activity, busiestMoment } from './activity.ts'
import type { Adapter, Address, ListenOptions, RequestHandler } from './adapter.ts'
import { fetchHandler, type Phase } from './fetch.ts'
import { listenError } from './listen-errors.ts'

type WebRequest = globalThis.Request
type WebResponse = globalThis.Response

/** The part of Deno's server that is used here; its own types would be a dependency of everybody. */
interface DenoServer {
  readonly addr: { port: number }
  readonly finished: Promise<void>
  shutdown(): Promise<void>
}

interface DenoRuntime {
  serve(
    options: Record<string, unknown>,
    handler: (request: WebRequest, info: unknown) => WebResponse | Promise<WebResponse>,
  ): DenoServer
}

interface ConnectionInfo {
  remoteAddr: { hostname?: string }
}

/** The adapter on `Deno.serve`. It has no time limits at all; where clients are not trusted, take `adapter: 'node'`. */
export function denoAdapter(): Adapter {
  return new DenoAdapter()
}

class DenoAdapter implements Adapter {
  readonly name = 'deno'
  readonly #abort = new AbortController()
  #server: DenoServer | undefined
  readonly #activity: Activity = { count: 0, working: 0 }
  /** Requests that were not answered at once. */
  readonly #pending = new Set<WebRequest>()
  #stopped: Promise<void> | undefined
  #secure = false
  #giveUp: () => void = () => {}
  readonly #givenUp = new Promise<void>((resolve) => {
    this.#giveUp = resolve
  })

  async listen(options: ListenOptions, handler: RequestHandler): Promise<Address> {
    const { port, host, limits, https, onWarning } = options
    this.#secure = https !== undefined
    const answer = fetchHandler(handler, {
      limits,
      onWarning,
      secure: https !== undefined,
      wire: true,
      hostOptional: false,
      countHead: true,
      activity: this.#activity,
      ip: (_request, info) => (info as ConnectionInfo).remoteAddr.hostname ?? '',
      phase: (request: WebRequest, phase: Phase) => {
        if (phase === 'done') this.#pending.delete(request)
        else this.#pending.add(request)
      },
    })
    try {
      this.#server = deno().serve(
        {
          port,
          hostname: host,
          signal: this.#abort.signal,
          onListen: () => {},
          // Also called for a stream that broke off, which has been reported where it happened.
          onError: () => new Response(null, { status: 500 }),
          ...(https && { key: text(https.key), cert: text(https.cert) }),
        },
        answer,
      )
    } catch (error) {
      throw listenError(error, host, port)
    }
    return { host, port: this.#server.addr.port }
  }

  /** Deno does not tell how many connections are open: 1 stands for any number of them. */
  connections(): number {
    return this.#activity.count > 0 ? Math.max(1, this.#pending.size) : 0
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#stop()
    return this.#stopped
  }

  cut(): number {
    const open = this.#pending.size
    // Once `shutdown` has closed a TLS listener, aborting throws «Bad resource ID» where nobody can catch it.
    if (!(this.#secure && this.#stopped)) this.#abort.abort()
    this.#giveUp()
    return open
  }

  async #stop(): Promise<void> {
    await busiestMoment(this.#activity)
    await Promise.race([this.#server?.shutdown(), this.#server?.finished, this.#givenUp])
  }
}

function deno(): DenoRuntime {
  return (globalThis as unknown as { Deno: DenoRuntime }).Deno
}

function text(material: string | Uint8Array): string {
  return typeof material === 'string' ? material : new TextDecoder().decode(material)
}
