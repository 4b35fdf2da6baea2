import { relative } from 'node:path'
import type { ListedRoute, Middleware } from '../../kernel/index.ts'
import { guardsOf } from '../../plugins/shared/http/guards.ts'

const parts = ['headers', 'params', 'query', 'body', 'all'] as const
/** Options with a place of their own in a description, or without effect on the response. */
const known: readonly string[] = [...parts, 'middlewares', 'policy', 'cache', 'responses', 'apidoc']

/** A route as it was declared, as plain data. */
export interface RouteDescription {
  readonly method: string
  readonly path: string
  /** The plugin that registered it; `application` for the application itself. */
  readonly owner: string
  /** The name of the function; `Class.method` for a controller. */
  readonly handler: string
  /** The policies, each as `<scope>.<handler>`: those of the route, then those of guards of its server, plugins and groups. */
  readonly policies: readonly string[]
  /** The other middlewares by name: those of its groups, then its own. */
  readonly middlewares: readonly string[]
  /** Which parts of a request have a schema. */
  readonly validates: readonly string[]
  /** The statuses that have a schema. */
  readonly responses: readonly string[]
  readonly cached: boolean
  /** Its other options, by name. */
  readonly options: readonly string[]
  /** Where it was registered: file, line and column. */
  readonly at: string
}

export function describeRoute({ record, plugin, middlewares }: ListedRoute): RouteDescription {
  const options = record.options as { readonly [name: string]: unknown }
  const isSet = (name: string) => options[name] !== undefined && options[name] !== false
  const own = (options.middlewares ?? []) as readonly Middleware[]
  return {
    method: record.method,
    path: record.path,
    owner: plugin,
    handler: record.handler.name || 'handler',
    policies: [options, ...guardsOf(middlewares)].flatMap(({ policy }) => policiesOf(policy)),
    middlewares: [...record.groupMiddlewares.flat(), ...own]
      .filter((one) => guardsOf([one]).length === 0)
      .map(({ name }) => name || 'anonymous'),
    validates: parts.filter(isSet),
    responses: Object.keys((options.responses ?? {}) as object),
    cached: isSet('cache'),
    options: Object.keys(options).filter((name) => isSet(name) && !known.includes(name)),
    at: relativeTo(String(record.site)),
  }
}

/** The notes about a route in a table. */
export function notesOf({ owner, policies, validates, cached, middlewares, options }: RouteDescription): string[] {
  return [
    ...(owner === 'application' ? [] : [`by ${owner}`]),
    ...(policies.length === 0 ? [] : [`policy ${policies.join(', ')}`]),
    ...(validates.length === 0 ? [] : [`validates ${validates.join(', ')}`]),
    ...(cached ? ['cached'] : []),
    ...(middlewares.length === 0 ? [] : [`uses ${middlewares.join(', ')}`]),
    ...options,
  ]
}

function policiesOf(policy: unknown): string[] {
  const all = (Array.isArray(policy) ? policy : policy === undefined ? [] : [policy]) as readonly {
    readonly scope: string
    readonly handler: string
  }[]
  return all.map(({ scope, handler }) => `${scope}.${handler}`)
}

function relativeTo(site: string): string {
  return site.startsWith('/') ? relative(process.cwd(), site) : site
}
