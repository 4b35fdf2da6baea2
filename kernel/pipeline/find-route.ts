import type { Miss, Routed } from '../http/request/request.ts'
import type { Scope } from '../plugin/scope.ts'
import type { RouteTable } from '../routing/table.ts'
import type { Logger } from '../support/logger.ts'
import type { Terminal } from './chain.ts'
import { type CompiledRoute, type CompiledRoutes, compiledMiss } from './compiled-route.ts'
import type { Fallback } from './not-found.ts'

/** What answers a request. */
export interface FoundRoute extends Routed {
  readonly target: CompiledRoute
  /** The methods registered for the path, and the fallbacks that may answer, in order. */
  readonly miss?: Miss & { readonly fallbacks: readonly Fallback[] }
}

/** The only place that decides what answers a request: a route, the GET route of a HEAD, a fallback, 404 or 405. */
export class RouteFinder {
  /** The fallbacks, the longest path first once {@link RouteFinder.compile} has run. */
  readonly fallbacks: Fallback[] = []
  readonly #routes: CompiledRoutes
  readonly #root: Scope
  readonly #answerMiss: Terminal
  readonly #misses = new Map<Scope, { readonly compiled: CompiledRoute; readonly fallbacks: readonly Fallback[] }>()

  /** `answerMiss` ends the chain of every request that matches no route. */
  constructor(routes: CompiledRoutes, root: Scope, answerMiss: Terminal) {
    this.#routes = routes
    this.#root = root
    this.#answerMiss = answerMiss
  }

  /** Fixes the order of the fallbacks. */
  compile(): void {
    this.fallbacks.sort((a, b) => b.path.length - a.path.length)
  }

  /** Finds what answers a request; `match` is the path as the router reads it. */
  find(method: string, match: string, logger: Logger): FoundRoute {
    const table = this.#routes.current(logger)
    return (
      table.match(method, match) ??
      (method === 'HEAD' ? table.match('GET', match) : undefined) ??
      this.#miss(table, match)
    )
  }

  #miss(table: RouteTable<CompiledRoute>, match: string): FoundRoute {
    const allowed = table.allowed(match)
    const scope = this.#scopeOfMiss(table, match, allowed)
    let known = this.#misses.get(scope)
    if (known === undefined) {
      // A fallback of another scope would be reached without the guards of that scope.
      const fallbacks = this.fallbacks.filter((one) => scope.lineage.includes(one.scope))
      known = { compiled: compiledMiss(scope, this.#answerMiss), fallbacks }
      this.#misses.set(scope, known)
    }
    const fallbacks = known.fallbacks.filter(({ path }) => isWithin(path, match))
    return { target: known.compiled, params: Object.create(null), miss: { allowed, fallbacks } }
  }

  /**
   * The scope whose middlewares run for a request without a route. For a 404, it is the root, or the scope whose fallback may
   * answer; for a 405, the scope of the path, so that the scope's own `cors` answers preflights and its guards apply
   * to every method.
   */
  #scopeOfMiss(table: RouteTable<CompiledRoute>, match: string, allowed: readonly string[]): Scope {
    const [other] = allowed
    const home = other === undefined ? undefined : table.match(other, match)?.target.home
    return home ?? this.fallbacks.find(({ path }) => isWithin(path, match))?.scope ?? this.#root
  }
}

function isWithin(path: string, match: string): boolean {
  return match.startsWith(path) && (match.length === path.length || match[path.length] === '/')
}
