import { parseTarget } from '../http/request/target.ts'
import type { RouteFinder } from '../pipeline/find-route.ts'
import type { Scope } from '../plugin/scope.ts'
import { nameOf } from '../routing/middleware.ts'
import type { Step } from '../routing/route.ts'
import { defineError } from '../support/errors.ts'
import type { Logger } from '../support/logger.ts'

export const NotReadyError = defineError(
  'NotReadyError',
  (what: string) => `${what} needs a booted server. Call await server.ready() first`,
)

/** How one request would be answered. */
export interface Explanation {
  /** The route's method and path as registered; `undefined` when the answer would be 404 or 405. */
  readonly route: string | undefined
  /** The decoded parameters of the path, as the handler receives them. */
  readonly params: Readonly<Record<string, string>>
  /** The steps that run, in order; where no route matches, the middlewares and then the fallbacks that may answer. */
  readonly steps: readonly ExplainedStep[]
}

/** One step, with the plugin that added it. */
export interface ExplainedStep extends Pick<Step, 'name' | 'plugin' | 'scope'> {
  /** The slot of the step; `handler` for the last one, `fallback` for one that answers where no route does. */
  readonly slot: Step['slot'] | 'fallback'
}

const plain = ({ slot, name, plugin, scope }: Step): ExplainedStep => ({ slot, name, plugin, scope })

/** The steps of one request, from what the dispatcher would find for it. */
export function explainRoute(
  finder: RouteFinder,
  root: Scope,
  logger: Logger,
  method: string,
  path: string,
): Explanation {
  const target = parseTarget(path)
  if (target === undefined) return { route: undefined, params: {}, steps: root.middlewaresReaching.map(plain) }
  const { target: compiled, params, miss } = finder.find(method.toUpperCase(), target.match, logger)
  const steps = compiled.steps.map(plain)
  if (miss === undefined) {
    const { plugin, home, terminal } = compiled
    steps.push({ slot: 'handler', name: nameOf(terminal, 'handler'), plugin, scope: home.name })
    return { route: `${compiled.method} ${compiled.path}`, params: { ...params }, steps }
  }
  for (const { run, path, plugin, scope } of miss.fallbacks) {
    steps.push({ slot: 'fallback', name: nameOf(run, `${path}/*`), plugin, scope: scope.name })
  }
  return { route: undefined, params: {}, steps }
}
