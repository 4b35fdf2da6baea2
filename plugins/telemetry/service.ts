import { tracedFetch } from './fetch.ts'
import type { Spans } from './spans.ts'

/** What the plugin `telemetry` gives to the application. */
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
   * `fetch` that carries the context of the work it is called in, with a span, on every runtime. On Node.js the global `fetch` does that by itself.
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
   * Puts the context of the work it is called in among headers, for clients other than `fetch`; gives the headers.
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

  /** The `traceId` and the `spanId` of the span that is active where it is called; `undefined` outside of one. */
  get current(): { readonly traceId: string; readonly spanId: string } | undefined {
    const { api } = this.#spans ?? {}
    const found = api?.trace.getActiveSpan()?.spanContext()
    if (found === undefined || api?.isSpanContextValid(found) !== true) return undefined
    return { traceId: found.traceId, spanId: found.spanId }
  }
}
