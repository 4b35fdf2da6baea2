import type { ListedRoute, RouteOptions } from '../../../kernel/index.ts'
import { plainName } from '../schema/names.ts'
import { isObject, type Json, put } from '../values/json.ts'

/** Names of security schemes that are required together, each with its scopes. */
export type SecurityRequirement = { readonly [scheme: string]: readonly string[] }

/** A route, for a plugin that describes it instead of the handler. */
export interface DescribedRoute {
  /** The method of the route: `GET`. */
  readonly method: string
  /** The path as registered, with the prefixes of its groups: `/users/:id`. */
  readonly path: string
  /** All options of the route. */
  readonly options: RouteOptions
  /** The parsed options with which the plugin was registered. */
  readonly settings: unknown
}

/** The part of a plugin's description that states the security of routes. */
export interface StatesSecurity {
  /**
   * Returns the security requirements of a route, one of which is enough, and the schemes that they name; an empty list means that nothing is
   * required. Called for each route that the plugin reaches, in AsyncAPI as well.
   */
  security?(route: DescribedRoute): {
    /** The Security Scheme Objects, by name. */
    readonly schemes: { readonly [name: string]: object }
    /** One of them is enough; `{}` stands for no credential. */
    readonly requirements: readonly SecurityRequirement[]
  }
}

/** The scheme for all policies that have none of their own. */
const credential = 'credential'

export type Policies = ReturnType<typeof policiesOf>

/**
 * The requirements of the policies of routes. All of them check the same caller, so that one credential is enough: a reader of the
 * document enters it once, and not again for each policy.
 *
 * `always`: the requirements of every operation; `defined`: the security schemes of the application.
 */
export function policiesOf(always: readonly SecurityRequirement[] = [], defined: Json = {}) {
  let isAsked = false
  const ofPlugins: Json = {}
  // The application's own scheme also applies to its policies.
  const isKnown = always.length > 0 && !Object.hasOwn(defined, credential)
  // For OAuth schemes the list of a requirement has scopes, for others names of roles (OpenAPI 3.1, Security Requirement Object).
  const { type } = (defined[credential] ?? {}) as { readonly type?: unknown }
  const takesRoles = type !== 'oauth2' && type !== 'openIdConnect'
  return {
    /** The requirements of an operation: those of all its policies and of every operation. `undefined` where it has no policy. */
    of(sets: readonly RouteOptions[], route: ListedRoute): SecurityRequirement[] | undefined {
      const policies = sets.flatMap((set) => (set as { policy?: unknown }).policy ?? []).filter(isNamed)
      const stated = statedBy(route)
      for (const { schemes } of stated) Object.assign(ofPlugins, schemes)
      const requirements = stated.flatMap((one) => one.requirements)
      if (policies.length === 0) return stated.length === 0 ? undefined : requirements
      if (requirements.length > 0) {
        const names = policies.map(({ scope, handler }) => `${scope}.${handler}`)
        // A policy needs a caller, so that none of these may be left out.
        return requirements.filter((one) => Object.keys(one).length > 0).map((one) => withRoles(one, names))
      }
      const own: Json = {}
      const roles = new Set<string>()
      for (const { scope, handler } of policies) {
        const policy = `${scope}.${handler}`
        const name = plainName(policy)
        if (Object.hasOwn(defined, name)) put(own, name, [])
        else roles.add(policy)
      }
      if (roles.size > 0 && !isKnown) {
        isAsked = true
        put(own, credential, takesRoles ? [...roles] : [])
      }
      const around = always.length === 0 ? [{}] : always
      return around.map((one) => ({ ...one, ...own }) as SecurityRequirement)
    },

    /** All schemes, including one for each name that operations use without a definition, which would make the document invalid. */
    schemes(asked: Iterable<string>, note: (why: string) => void): Json {
      const bearer = { type: 'http', scheme: 'bearer' }
      const description = 'Identifies the caller. The roles of an operation are the policies that admit its callers.'
      // A policy decides who may enter, but not how callers authenticate: with a bearer token, unless the application has another scheme.
      const schemes: Json = { ...(isAsked && { [credential]: { ...bearer, description } }), ...ofPlugins, ...defined }
      for (const name of asked) {
        if (Object.hasOwn(schemes, name)) continue
        note(`the security scheme "${name}" is not defined: define it in the option components.securitySchemes`)
        put(schemes, name, bearer)
      }
      return schemes
    },
  }
}

function isNamed(value: unknown): value is { scope: string; handler: string } {
  return isObject(value) && typeof value.scope === 'string' && typeof value.handler === 'string'
}

/** The requirements that the plugins of a route state. */
function statedBy({ record: { method, path, options }, reachedBy }: ListedRoute) {
  return [...reachedBy.values()].flatMap(({ definition, settings }) => {
    const state = (definition as { readonly openapi?: StatesSecurity }).openapi?.security
    return state === undefined ? [] : [state({ method, path, options, settings })]
  })
}

const withRoles = (one: SecurityRequirement, roles: readonly string[]): SecurityRequirement =>
  Object.fromEntries(Object.entries(one).map(([name, scopes]) => [name, [...scopes, ...roles]]))
