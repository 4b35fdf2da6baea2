import { defineErrors, type Request } from '../../kernel/index.ts'
import { noteCredential } from '../shared/http/client-specific.ts'
import type { AuthRule, AuthSettings } from './options.ts'
import { type AuthScheme, type AuthSubject, verdictOf } from './scheme.ts'

const { AuthenticationError, InsufficientScopeError } = defineErrors({
  AuthenticationError: [401, (why: string) => why],
  InsufficientScopeError: [403, (scopes: string) => `the credential does not allow this, which requires ${scopes}`],
})

/** What became of a request: its caller, or the refusal. */
export interface Outcome {
  readonly subject?: AuthSubject
  readonly scheme?: string
  readonly refusal?: { readonly error: ReturnType<typeof AuthenticationError>; readonly challenge: string }
}

const anonymous: Outcome = {}
const missing = 'authentication is required'
const unknown = 'the header Authorization has no credential of an accepted scheme'

/** Authenticates requests; `services.auth`. */
export class Auth {
  readonly #settings: AuthSettings
  /** @internal */
  ruleOf!: (req: Request) => AuthRule | undefined
  readonly #outcomes = new WeakMap<Request, Promise<Outcome>>()
  /** The names of the subjects of requests, for the log. */
  readonly #names = new WeakMap<Request, string>()

  constructor(settings: AuthSettings) {
    this.#settings = settings
  }

  /**
   * Returns the caller of a request, before its middleware has run as well: as the key of a rate limit, for example. `undefined` without a
   * credential, with a wrong one, and where none is read.
   *
   * @example
   * const key = async (req: Request) => (await req.server.services.get('auth').subject(req))?.id
   */
  async subject(req: Request): Promise<AuthSubject | undefined> {
    const rule = this.ruleOf(req)
    return rule && (await this.settle(req, rule)).subject
  }

  /** Authenticates a request, once. @internal */
  settle(req: Request, rule: AuthRule): Promise<Outcome> {
    let outcome = this.#outcomes.get(req)
    if (outcome === undefined) {
      outcome = this.#settle(req, rule)
      this.#outcomes.set(req, outcome)
    }
    return outcome
  }

  /** The name of the caller; never the credential. @internal */
  nameOf(req: Request): string | undefined {
    return this.#names.get(req)
  }

  async #settle(req: Request, rule: AuthRule): Promise<Outcome> {
    for (const [scheme, one] of rule.schemes) {
      const found = await one.authenticate(req)
      if (found === undefined) continue
      const verdict = 'wrong' in found ? found : verdictOf(found.subject, found.scopes)
      if ('wrong' in verdict) return this.#refused(rule, verdict.wrong, one)
      const { subject, scopes = [] } = verdict
      noteCredential(req, one.header)
      const { id, sub } = subject as { id?: unknown; sub?: unknown }
      const name = this.#settings.name === undefined ? (id ?? sub) : this.#settings.name(subject)
      if (name !== undefined && name !== null) this.#names.set(req, String(name).slice(0, 200))
      if (rule.scopes.every((scope) => scopes.includes(scope))) return { subject, scheme }
      const all = rule.scopes.join(' ')
      const challenge = this.#challenge(one, `error="insufficient_scope", scope="${all}"`)
      return { refusal: { error: InsufficientScopeError(all), challenge } }
    }
    // A credential was sent, so the client does not want to be anonymous.
    const isSent = req.raw.header('authorization') !== undefined
    if (rule.mode === 'optional' && !isSent) return anonymous
    return this.#refused(rule, isSent ? unknown : missing, undefined)
  }

  #refused({ schemes }: AuthRule, why: string, by: AuthScheme | undefined): Outcome {
    const isWrong = by !== undefined || why !== missing
    const all = schemes.map(([, one]) => {
      // RFC 6750 section 3: a request without a credential gets no error code.
      const says = isWrong && one.challenge === 'Bearer' && (by === undefined || by === one)
      return this.#challenge(
        one,
        says ? `error="invalid_token", error_description="${why.replace(/[^\w .,;:'()-]/g, '')}"` : '',
      )
    })
    return { refusal: { error: AuthenticationError(why), challenge: [...new Set(all)].join(', ') } }
  }

  #challenge({ challenge }: AuthScheme, more: string): string {
    const { realm } = this.#settings
    const [scheme = '', ...own] = challenge.split(/ (.*)/s).filter((one) => one !== '')
    const all = [...(realm === undefined ? [] : [`realm="${realm}"`]), ...own, ...(more === '' ? [] : [more])]
    return all.length === 0 ? scheme : `${scheme} ${all.join(', ')}`
  }
}
