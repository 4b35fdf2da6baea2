import { tracingChannel } from 'node:diagnostics_channel'
import type { Kernel, RequestTrace } from '../../kernel/index.ts'
import { isOwnRequest } from '../shared/development/own-requests.ts'
import { knownMethods } from './requests.ts'
import type { Sample } from './text.ts'

const { start, asyncEnd } = tracingChannel<unknown, RequestTrace>('framework:request')

/** Requests in progress, by method and scheme. Uses the channel of requests, which reports the end of each exactly once. */
export class ActiveRequests {
  readonly #servers: Kernel[] = []
  readonly #counts = new Map<string, { readonly labels: { method: string; scheme: string }; value: number }>()
  readonly #counted = new WeakMap<object, string>()

  /** Counts the requests of a server from now on; returns a function that ends the counting. */
  follow(server: Kernel): () => void {
    if (this.#servers.length === 0) {
      start.subscribe(this.#begin)
      asyncEnd.subscribe(this.#end)
    }
    this.#servers.push(server)
    return () => {
      this.#servers.splice(this.#servers.indexOf(server), 1)
      if (this.#servers.length > 0) return
      start.unsubscribe(this.#begin)
      asyncEnd.unsubscribe(this.#end)
    }
  }

  /** All series, including those at 0: a series that is left out would keep its last value. */
  samples(): Sample[] {
    return [...this.#counts.values()].map(({ labels, value }) => ({ labels, value }))
  }

  readonly #begin = (given: unknown) => {
    const event = given as RequestTrace
    const { request } = event
    if (!this.#servers.includes(request.server as Kernel) || isOwnRequest(request)) return
    const method = knownMethods.has(request.method) ? request.method : '_OTHER'
    const key = `${method} ${request.protocol}`
    let count = this.#counts.get(key)
    if (count === undefined) {
      count = { labels: { method, scheme: request.protocol }, value: 0 }
      this.#counts.set(key, count)
    }
    count.value++
    this.#counted.set(event, key)
  }

  readonly #end = (event: unknown) => {
    const key = this.#counted.get(event as object)
    if (key !== undefined) this.#counts.get(key)!.value--
  }
}
