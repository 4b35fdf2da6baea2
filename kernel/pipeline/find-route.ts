import type { RawRequest } from '../http/raw.ts'
import type { KernelRequest, Miss, Request, Routed } from '../http/request/request.ts'
import { sendFailure } from '../http/response/error-body.ts'
import type { Response } from '../http/response/response.ts'
import { afterwards, type KernelResponse } from '../http/response/response-buffer.ts'
import type { Fallback, Scope } from '../plugin/scope.ts'
import type { RouteTable } from '../routing/table.ts'
import { MethodNotAllowedError, RouteNotFoundError } from '../support/errors.ts'
import type { LoggerOwner } from '../support/logger.ts'
import { type CompiledRoute, type CompiledRoutes, compiledMiss } from './compiled-route.ts'

/** Answers 404 and 405; the error says which of them, and the status is preset. */
export type NotFoundHandler = (req: Request, res: Response, error: Error & { code: string; status: number }) => unknown

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
  /** Of the application, for 404 and 405. */
  notFoundHandler: NotFoundHandler | undefined
  readonly #routes: CompiledRoutes
  readonly #root: Scope
  readonly #misses = new Map<Scope, { readonly compiled: CompiledRoute; readonly fallbacks: readonly Fallback[] }>()

  constructor(routes: CompiledRoutes, root: Scope) {
    this.#routes = routes
    this.#root = root
  }

  /** Fixes the order of the fallbacks. */
  compile(): void {
    this.fallbacks.sort((a, b) => b.path.length - a.path.length)
  }

  /** Finds what answers a request; `match` is the path as the router reads it, `raw` the request itself if there is one. */
  find(method: string, match: string, server: LoggerOwner, raw?: Pick<RawRequest, 'header'>): FoundRoute {
    const table = this.#routes.current(server)
    return (
      table.match(method, match) ??
      (method === 'HEAD' ? table.match('GET', match) : undefined) ??
      this.#miss(table, match, method === 'OPTIONS' ? raw?.header('access-control-request-method') : undefined)
    )
  }

  /** `asked` is the method that a preflight asks for. */
  #miss(table: RouteTable<CompiledRoute>, match: string, asked?: string): FoundRoute {
    const allowed = table.allowed(match)
    const scope = this.#scopeOfMiss(table, match, allowed.find((method) => method === asked) ?? allowed[0])
    let known = this.#misses.get(scope)
    if (known === undefined) {
      // A fallback of another scope would be reached without the guards of that scope.
      const fallbacks = this.fallbacks.filter((one) => scope.lineage.includes(one.scope))
      known = { compiled: compiledMiss(scope, (req, res) => this.#fallBack(0, req, res)), fallbacks }
      this.#misses.set(scope, known)
    }
    const fallbacks = known.fallbacks.filter(({ path }) => isWithin(path, match))
    return { target: known.compiled, params: Object.create(null), miss: { allowed, fallbacks } }
  }

  /**
   * The scope whose middlewares run for a request without a route. For a 404, it is the root, or the scope whose fallback may
   * answer; for a 405, the scope of the path, so that the scope's own `cors` answers preflights and its guards apply
   * to every method. Where routes of several scopes have the path, a preflight belongs to that of the `other` method it asks for.
   */
  #scopeOfMiss(table: RouteTable<CompiledRoute>, match: string, other: string | undefined): Scope {
    const home = other === undefined ? undefined : table.match(other, match)?.target.home
    return home ?? this.fallbacks.find(({ path }) => isWithin(path, match))?.scope ?? this.#root
  }

  /** The end of the chain of a request that matches no route: the fallbacks of its path in turn, then 404 or 405. */
  #fallBack(from: number, req: KernelRequest, res: KernelResponse): unknown {
    const fallback = req.miss?.fallbacks[from]
    if (fallback === undefined) return this.#answerMiss(req, res)
    const passOn = () => (res.answered ? res : this.#fallBack(from + 1, req, res))
    return afterwards(res, () => fallback.run(req, res), passOn)
  }

  #answerMiss(req: KernelRequest, res: KernelResponse): unknown {
    const { method, path } = req
    const allowed = req.miss?.allowed ?? []
    const error = allowed.length === 0 ? RouteNotFoundError(method, path) : MethodNotAllowedError(method, path)
    res.code = error.status
    if (this.notFoundHandler !== undefined) return this.notFoundHandler(req, res, error)
    if (allowed.length > 0) res.setHeader('allow', allowed.join(', '))
    return sendFailure(req, res, error)
  }
}

function isWithin(path: string, match: string): boolean {
  return match.startsWith(path) && (match.length === path.length || match[path.length] === '/')
}
