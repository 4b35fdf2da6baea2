import { plainName } from '../../toolkit/schema/names.ts'
import type { OpenApiSecurity } from '../types.ts'
import { isObject, type Json, put } from './json.ts'
import type { Scene } from './operation-context.ts'
import { Names } from './schemas/names.ts'

/** The policies of all routes as security schemes. */
export class Policies {
  readonly #schemes = new Map<string, string>()
  readonly #names = new Names()
  readonly #always: readonly OpenApiSecurity[]

  /** `always`: what every operation asks for. */
  constructor(always: readonly OpenApiSecurity[] | undefined) {
    this.#always = always ?? []
  }

  /** What an operation asks for, `undefined` where it has no policy: all of its policies, on top of what every one asks for. */
  of({ sets }: Scene): OpenApiSecurity[] | undefined {
    const policies = sets.flatMap((set) => (set as { policy?: unknown }).policy ?? [])
    const names = policies.filter(isNamed).map(({ scope, handler }) => this.#scheme(`${scope}.${handler}`))
    if (names.length === 0) return undefined
    const own: Json = {}
    for (const name of names) put(own, name, [])
    const around = this.#always.length === 0 ? [{}] : this.#always
    return around.map((one) => ({ ...one, ...own }) as OpenApiSecurity)
  }

  /** Schemes for names that operations ask for and nobody defines: without one the document would not be valid. */
  missing(asked: Iterable<string>, defined: object, note: (why: string) => void): Json {
    const schemes: Json = {}
    for (const name of asked) {
      if (Object.hasOwn(defined, name) || Object.hasOwn(schemes, name)) continue
      note(`the security scheme "${name}" is not defined: name it in the option components.securitySchemes`)
      put(schemes, name, { type: 'http', scheme: 'bearer' })
    }
    return schemes
  }

  #scheme(policy: string): string {
    const there = this.#schemes.get(policy)
    if (there !== undefined) return there
    const name = this.#names.claim(plainName(policy))
    this.#schemes.set(policy, name)
    return name
  }

  /** A policy says whom it lets in and not how he is known: a bearer token, unless the application says otherwise. */
  get schemes(): Json {
    const schemes: Json = {}
    for (const [policy, name] of this.#schemes) {
      put(schemes, name, { type: 'http', scheme: 'bearer', description: `Whoever the policy ${policy} lets in.` })
    }
    return schemes
  }
}

function isNamed(value: unknown): value is { scope: string; handler: string } {
  return isObject(value) && typeof value.scope === 'string' && typeof value.handler === 'string'
}
