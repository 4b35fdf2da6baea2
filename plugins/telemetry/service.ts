import { tracedFetch } from './fetch.ts'
import type { Spans } from './spans.ts'

/** The service `telemetry`, for the application's own calls and ids. */
export class Telemetry {
  #spans: Spans | undefined
  #isFetchFollowed = false

  /** @internal */
  start(spans: Spans, isFetchFollowed: boolean): void {
    this.#spans = spans
    this.#isFetchFollowed = isFetchFollowed
  }

  /** @internal */
  stop(): void {
    this.#spans = undefined
  }

  /**
   * A `fetch` with a span, which carries the context of the work it is called in, on every runtime. On Node.js the global one already does.
   *
   * @example
   * server.get('/prices', (req) => server.services.get('telemetry').fetch('https://prices.example/'))
   */
  fetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
    return this.#spans === undefined || this.#isFetchFollowed
      ? fetch(input, init)
      : tracedFetch(this.#spans, input, init)
  }

  /**
   * Adds the context of the work in which it is called to headers, for clients other than `fetch`; returns the headers.
   *
   * @example
   * import http from 'node:http'
   * import { Server } from 'framework'
   *
   * const server = new Server({ plugins: { telemetry: true } })
   * server.get('/', () => void http.get('http://prices.example/', { headers: server.services.get('telemetry').inject({}) }))
   */
  inject<Carrier extends { [name: string]: unknown }>(headers: Carrier): Carrier {
    this.#spans?.inject(this.#spans.api.context.active(), headers)
    return headers
  }

  /** The `traceId` and the `spanId` of the active span; `undefined` outside of a span. */
  get current(): { readonly traceId: string; readonly spanId: string } | undefined {
    const found = this.#spans?.contextOf(this.#spans.api.trace.getActiveSpan())
    return found && { traceId: found.traceId, spanId: found.spanId }
  }
}
