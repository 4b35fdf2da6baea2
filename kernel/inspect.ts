import type { CompiledRoutes } from './compile.ts'
import type { Dispatcher } from './dispatch.ts'
import { parseTarget } from './http/target.ts'
import type { Scope } from './plugin/scope.ts'
import { nameOf } from './routing/middleware.ts'
import type { Step } from './routing/route.ts'
import { columns } from './support/columns.ts'
import { defineError } from './support/errors.ts'
import type { Logger } from './support/logger.ts'

const NotReadyError = defineError(
  'NotReadyError',
  500,
  (what: string) => `${what} needs a booted server. Call await server.ready() first`,
)

/** How one request would be answered. */
export interface Explanation {
  /** The route's method and path as registered; `undefined` when the request is a 404 or 405. */
  readonly route: string | undefined
  readonly params: Readonly<Record<string, string>>
  /** In order; behind the middlewares of a miss the fallbacks that may answer it. */
  readonly steps: readonly ExplainedStep[]
}

/** One step, with who put it there. */
export interface ExplainedStep extends Pick<Step, 'name' | 'plugin' | 'scope'> {
  readonly slot: Step['slot'] | 'fallback'
}

const plain = ({ slot, name, plugin, scope }: Step) => ({ slot, name, plugin, scope })

export function explainRoute(
  routes: CompiledRoutes,
  dispatcher: Dispatcher,
  root: Scope,
  booted: boolean,
  logger: Logger,
  method: string,
  path: string,
): Explanation {
  if (!booted) throw NotReadyError('explain()')
  const target = parseTarget(path)
  const table = routes.current(logger)
  const miss = (match: string): ExplainedStep[] => {
    const scope = dispatcher.scopeOfMiss(table, match, table.allowed(match))
    const fallbacks = dispatcher.fallbacksIn(scope, match).map((one) => ({
      slot: 'fallback' as const,
      name: nameOf(one.run, `${one.path}/*`),
      plugin: one.plugin,
      scope: one.scope.name,
    }))
    return [...scope.middlewaresReaching.map(plain), ...fallbacks]
  }
  const verb = method.toUpperCase()
  const found =
    target && (table.match(verb, target.match) ?? (verb === 'HEAD' ? table.match('GET', target.match) : undefined))
  if (found === undefined) {
    return {
      route: undefined,
      params: {},
      steps: target === undefined ? root.middlewaresReaching.map(plain) : miss(target.match),
    }
  }
  const lane = found.target
  const handler = {
    slot: 'handler' as const,
    name: nameOf(lane.terminal, 'handler'),
    plugin: lane.plugin,
    scope: lane.scope,
  }
  return {
    route: `${lane.method} ${lane.path}`,
    params: { ...found.params },
    steps: [...lane.steps.map(plain), handler],
  }
}

export function printRoutes(routes: CompiledRoutes, booted: boolean, logger: Logger): string {
  if (!booted) throw NotReadyError('printRoutes()')
  routes.current(logger)
  const rows = [...routes.entries()].map(({ record, lane }) => [
    record.method,
    record.path,
    [...lane.steps.map((step) => step.name), nameOf(record.handler, 'handler')].join(' > '),
    lane.plugin === 'application' ? '' : `by ${lane.plugin}`,
  ])
  return columns(rows).join('\n')
}
