import type { RouteOptions } from '../../../kernel/index.ts'
import { plainName } from '../schema/names.ts'
import { isObject, type Json, put } from '../values/json.ts'

/** Names of security schemes that are required together, each with its scopes. */
export type SecurityRequirement = { readonly [scheme: string]: readonly string[] }

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
  // The application's own scheme also applies to its policies.
  const isKnown = always.length > 0 && !Object.hasOwn(defined, credential)
  // For OAuth schemes the list of a requirement has scopes, for others names of roles (OpenAPI 3.1, Security Requirement Object).
  const { type } = (defined[credential] ?? {}) as { readonly type?: unknown }
  const takesRoles = type !== 'oauth2' && type !== 'openIdConnect'
  return {
    /** The requirements of an operation: those of all its policies and of every operation. `undefined` where it has no policy. */
    of({ sets }: { readonly sets: readonly RouteOptions[] }): SecurityRequirement[] | undefined {
      const policies = sets.flatMap((set) => (set as { policy?: unknown }).policy ?? []).filter(isNamed)
      if (policies.length === 0) return undefined
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
      const schemes: Json = { ...(isAsked && { [credential]: { ...bearer, description } }), ...defined }
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
