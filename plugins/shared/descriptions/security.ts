import type { RouteOptions } from '../../../kernel/index.ts'
import { plainName } from '../schema/names.ts'
import { isObject, type Json, put } from '../values/json.ts'

/** Names of security schemes that are required together, each with its scopes. */
export type SecurityRequirement = { readonly [scheme: string]: readonly string[] }

/** The scheme for all policies that have none of their own. */
const credential = 'credential'

/**
 * The requirements of the policies of routes. All of them check the same caller, so that one credential is enough: a reader of the
 * document enters it once, and not again for each policy.
 */
export class Policies {
  readonly #defined: Json
  readonly #always: readonly SecurityRequirement[]
  #isAsked = false

  /** `always`: the requirements of every operation; `defined`: the security schemes of the application. */
  constructor(always: readonly SecurityRequirement[] | undefined, defined: Json = {}) {
    this.#always = always ?? []
    this.#defined = defined
  }

  /** The requirements of an operation: those of all its policies and of every operation. `undefined` where it has no policy. */
  of({ sets }: { readonly sets: readonly RouteOptions[] }): SecurityRequirement[] | undefined {
    const policies = sets.flatMap((set) => (set as { policy?: unknown }).policy ?? []).filter(isNamed)
    if (policies.length === 0) return undefined
    const own: Json = {}
    const roles: string[] = []
    for (const { scope, handler } of policies) {
      const policy = `${scope}.${handler}`
      const name = plainName(policy)
      if (Object.hasOwn(this.#defined, name)) put(own, name, [])
      else if (!roles.includes(policy)) roles.push(policy)
    }
    // The application's own scheme also applies to its policies.
    const isKnown = this.#always.length > 0 && !Object.hasOwn(this.#defined, credential)
    if (roles.length > 0 && !isKnown) {
      this.#isAsked = true
      put(own, credential, this.#takesRoles ? roles : [])
    }
    const around = this.#always.length === 0 ? [{}] : this.#always
    return around.map((one) => ({ ...one, ...own }) as SecurityRequirement)
  }

  /** Whether the list has role names: for OAuth schemes it has scopes, for others roles (OpenAPI 3.1, Security Requirement Object). */
  get #takesRoles(): boolean {
    const { type } = (this.#defined[credential] ?? {}) as { readonly type?: unknown }
    return type !== 'oauth2' && type !== 'openIdConnect'
  }

  /** All schemes, including one for each name that operations use without a definition, which would make the document invalid. */
  schemes(asked: Iterable<string>, note: (why: string) => void): Json {
    const bearer = { type: 'http', scheme: 'bearer' }
    const description = 'Identifies the caller. The roles of an operation are the policies that admit its callers.'
    // A policy decides who may enter, but not how callers authenticate: with a bearer token, unless the application has another scheme.
    const schemes: Json = { ...(this.#isAsked && { [credential]: { ...bearer, description } }), ...this.#defined }
    for (const name of asked) {
      if (Object.hasOwn(schemes, name)) continue
      note(`the security scheme "${name}" is not defined: define it in the option components.securitySchemes`)
      put(schemes, name, bearer)
    }
    return schemes
  }
}

function isNamed(value: unknown): value is { scope: string; handler: string } {
  return isObject(value) && typeof value.scope === 'string' && typeof value.handler === 'string'
}
