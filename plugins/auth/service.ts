import { clock, defineErrors, OptionError, type Request } from '../../kernel/index.ts'
import { noteCredential } from '../shared/http/client-specific.ts'
import { type Connections, type Hold, loginKey } from '../shared/http/connections.ts'
import { identityOf } from '../shared/http/subject.ts'
import type { AuthRule, AuthSettings } from './options.ts'
import { type AuthScheme, type AuthSubject, type Granted, verdictOf } from './scheme.ts'

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

/** What a scheme may say besides the caller; only a ticket has `keys`. */
type Found = Partial<Granted> & { readonly login?: string }

/** The key of the connections of a caller. */
const subjectKey = (identity: string) => `subject ${identity}`

const anonymous: Outcome = {}
const missing = 'authentication is required'
const unknown = 'the header Authorization has no credential of an accepted scheme'

/** Authenticates requests; `services.auth`. */
export class Auth {
  readonly #settings: AuthSettings
  /** @internal */
  ruleOf!: (req: Request) => AuthRule | undefined
  readonly #outcomes = new WeakMap<Request, Promise<Outcome>>()
  readonly #granted = new WeakMap<Request, Granted>()
  /** @internal */
  connections!: Connections

  constructor(settings: AuthSettings) {
    this.#settings = settings
  }

  /**
   * Returns the caller of a request, before its middleware has run as well: as the key of a rate limit, for example. `undefined` without a
   * credential, with a wrong one, where none is read, and for a session that is not loaded yet.
   *
   * @example
   * const key = async (req: Request) => (await req.server.services.get('auth').subject(req))?.id
   */
  async subject(req: Request): Promise<AuthSubject | undefined> {
    const rule = this.ruleOf(req)
    try {
      return rule && (await this.settle(req, rule)).subject
    } catch (error) {
      // Only here: in the middleware, a session that is not loaded must not pass for none.
      if ((error as { code?: unknown } | null)?.code === 'SessionUnavailableError') return undefined
      throw error
    }
  }

  /**
   * Ends all websockets and event streams of a caller, on all instances if the plugin `channels` has a Redis, and otherwise on this one.
   * Websockets close with the code 4401. It does not keep the caller from returning: first revoke what lets them in.
   *
   * @throws (as a rejection) OptionError without an `id` or `sub`, ChannelUnavailableError if other instances cannot be reached.
   * @example
   * await server.services.get('auth').disconnect({ id: 'ada' })
   */
  async disconnect(subject: { readonly id?: unknown } | { readonly sub?: unknown }): Promise<void> {
    const identity = identityOf(subject)
    if (identity === undefined)
      throw OptionError('disconnect', subject, 'a caller with an id or sub, a string or a number')
    await this.connections.end(subjectKey(identity))
  }

  /** What the connection of a request ends with. @internal */
  holdsOf(req: Request): readonly Hold[] {
    const granted = this.#granted.get(req)
    if (granted === undefined) return []
    const { subject, keys, since } = granted
    const identity = identityOf(subject)
    return [...(identity === undefined ? [] : [{ key: subjectKey(identity), since }]), ...keys.map((key) => ({ key }))]
  }

  /** Authenticates a request, once; again after a failure, since `subject` may have come before what a scheme needs. @internal */
  settle(req: Request, rule: AuthRule): Promise<Outcome> {
    const begun = this.#outcomes.get(req)
    const outcome = begun === undefined ? this.#settle(req, rule) : begun.catch(() => this.#settle(req, rule))
    this.#outcomes.set(req, outcome)
    return outcome
  }

  /** What has let a request in; `undefined` if it was not authenticated here. @internal */
  grantedTo(req: Request): Granted | undefined {
    return this.#granted.get(req)
  }

  /** What its connections end with that is never valid again: the plugin `session` adds its own. @internal */
  keysOf(req: Request): readonly string[] {
    return this.connections.holdsOf(req).flatMap(({ key, since }) => (since === undefined ? [key] : []))
  }

  async #settle(req: Request, rule: AuthRule): Promise<Outcome> {
    // Before it is checked: an order may come meanwhile.
    const checked = clock.monotonic()
    for (const [scheme, one] of rule.schemes) {
      const found = await one.authenticate(req)
      if (found === undefined) continue
      const verdict = 'wrong' in found ? found : verdictOf(found.subject, found.scopes)
      if ('wrong' in verdict) return this.#refused(rule, verdict.wrong, one)
      const { subject, scopes = [] } = verdict
      const { login, keys = login === undefined ? [] : [loginKey(login)], since = checked } = found as Found
      noteCredential(req, one.header)
      const { id, sub } = subject as { id?: unknown; sub?: unknown }
      const name = this.#settings.name === undefined ? (id ?? sub) : this.#settings.name(subject)
      const shown = name === undefined || name === null ? undefined : String(name).slice(0, 200)
      this.#granted.set(req, { subject, scheme, scopes, keys, name: shown, since })
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
    // Basic requires one (RFC 7617 section 2).
    const usual = /^Basic\b(?!.*\brealm=)/i.test(challenge) ? 'restricted' : undefined
    const { realm = usual } = this.#settings
    const [scheme = '', ...own] = challenge.split(/ (.*)/s).filter((one) => one !== '')
    const all = [...(realm === undefined ? [] : [`realm="${realm}"`]), ...own, ...(more === '' ? [] : [more])]
    return all.length === 0 ? scheme : `${scheme} ${all.join(', ')}`
  }
}
