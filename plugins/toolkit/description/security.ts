import type { RouteOptions } from '../../../kernel/index.ts'
import { plainName } from '../schema/names.ts'
import { isObject, type Json, put } from './json.ts'

/** Names of security schemes that are asked for together, each with its scopes. */
export type SecurityRequirement = { readonly [scheme: string]: readonly string[] }

/** The scheme of all policies that have none of their own. */
const credential = 'credential'

/**
 * What the policies of routes ask for. All of them see the same caller, so that one credential is enough: a reader of the
 * document gives it once, and not again for each policy.
 */
export class Policies {
  readonly #defined: Json
  readonly #always: readonly SecurityRequirement[]
  #isAsked = false

  /** `always`: what every operation asks for; `defined`: the security schemes of the application. */
  constructor(always: readonly SecurityRequirement[] | undefined, defined: Json = {}) {
    this.#always = always ?? []
    this.#defined = defined
  }

  /** What an operation asks for, `undefined` where it has no policy: all of its policies, on top of what every one asks for. */
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
    // Where the application says how callers are known, that is how policies know them, too.
    const isKnown = this.#always.length > 0 && !Object.hasOwn(this.#defined, credential)
    if (roles.length > 0 && !isKnown) {
      this.#isAsked = true
      put(own, credential, this.#takesRoles ? roles : [])
    }
    const around = this.#always.length === 0 ? [{}] : this.#always
    return around.map((one) => ({ ...one, ...own }) as SecurityRequirement)
  }

  /** In the list of an OAuth scheme stand scopes of its own, in that of others names of roles (OpenAPI 3.1, Security Requirement Object). */
  get #takesRoles(): boolean {
    const { type } = (this.#defined[credential] ?? {}) as { readonly type?: unknown }
    return type !== 'oauth2' && type !== 'openIdConnect'
  }

  /** Schemes for names that operations ask for and no one defines: without one the document would not be valid. */
  missing(asked: Iterable<string>, defined: object, note: (why: string) => void): Json {
    const schemes: Json = {}
    for (const name of asked) {
      if (Object.hasOwn(defined, name) || Object.hasOwn(schemes, name)) continue
      note(`the security scheme "${name}" is not defined: define it in the option components.securitySchemes`)
      put(schemes, name, { type: 'http', scheme: 'bearer' })
    }
    return schemes
  }

  /** A policy says whom it lets in and not how they are known: by a bearer token, unless the application says otherwise. */
  get schemes(): Json {
    if (!this.#isAsked) return {}
    const description = 'Identifies the caller. The roles of an operation are the policies that admit its callers.'
    return { [credential]: { type: 'http', scheme: 'bearer', description } }
  }
}

function isNamed(value: unknown): value is { scope: string; handler: string } {
  return isObject(value) && typeof value.scope === 'string' && typeof value.handler === 'string'
}
