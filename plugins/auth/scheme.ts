import { createHash, randomBytes } from 'node:crypto'
import { defineErrors, type Request } from '../../kernel/index.ts'

export type Awaitable<T> = T | Promise<T>

/**
 * What a scheme knows about a caller. Applications merge their own members into this interface; then each request has `req.user`, and checks of
 * policies receive it.
 *
 * @example
 * declare module 'framework' {
 *   interface AuthSubject {
 *     id: string
 *     role?: string
 *   }
 * }
 */
// biome-ignore lint/suspicious/noEmptyInterface: open for merging
export interface AuthSubject {}

/**
 * Returns the caller of a request in code that does not know its type, such as a package for several applications; elsewhere it is `req.user`.
 *
 * @example
 * const whoCalls = (req: Request) => userOf(req)
 */
export const userOf = (req: object): AuthSubject | undefined => (req as { readonly user?: AuthSubject }).user

/** What a scheme has found in a request. */
export type Verdict =
  | {
      /** The caller. */
      readonly subject: AuthSubject
      /** What the credential allows; routes may require it. Default: none. */
      readonly scopes?: readonly string[]
      /** The log-in that the credential belongs to: its connections end with it. */
      readonly login?: string
      /** When the credential was issued, on the monotonic clock, if a sign-out since then ends it. Default: when it is checked. */
      readonly since?: number
    }
  | {
      /** Why the credential is wrong; the client receives this. */
      readonly wrong: string
    }

/** What the credential of a request has shown. */
export interface Granted {
  /** The caller. */
  readonly subject: AuthSubject
  /** The name of the scheme. */
  readonly scheme: string
  /** What the credential allows. */
  readonly scopes: readonly string[]
  /** What its connections end with, besides the caller: a log-in, or the session in which a ticket was issued. */
  readonly keys: readonly string[]
  /** The name of the caller in the log. */
  readonly name: string | undefined
  /** When it was checked or issued, on the monotonic clock. */
  readonly since: number
}

/** Knows what has let a request in; `undefined` if nothing has. */
export interface Grants {
  /** What has let a request in, at the innermost plugin `auth`. */
  grantedTo(req: Request): Granted | undefined
  /** What the connections of a request end with that is never valid again: its log-in, its session. */
  keysOf(req: Request): readonly string[]
}

/** A way to authenticate: `bearer`, `basic`, `apiKey`, `jwt`, `session`, `tokens`, or one of your own. */
export interface AuthScheme {
  /**
   * Returns the caller of a request. `undefined` means that it has no credential of this scheme, so that the next scheme is asked; a wrong
   * credential is `{ wrong }`, which refuses the request. An error that is thrown fails the request as well.
   */
  authenticate(req: Request): Awaitable<Verdict | undefined>
  /** The scheme in the header `WWW-Authenticate` (RFC 9110 section 11.6.1), such as `Bearer`. */
  readonly challenge: string
  /** The header that carries the credential, in lower case. */
  readonly header: string
  /** The Security Scheme Object of OpenAPI. */
  readonly description: object
  /** Plugins that must be registered. */
  readonly dependencies?: readonly string[]
  /** Whether only requests that open a websocket may have its credential: other routes do not accept the scheme. */
  readonly opensSockets?: boolean
  /** Loads what the scheme needs, at the boot. */
  prepare?(auth: Grants): void | Promise<void>
}

export const { AuthenticationUnavailableError, AuthSetupError } = defineErrors({
  AuthenticationUnavailableError: [
    503,
    (what: string) => `${what}, so that credentials cannot be checked. Try again later`,
  ],
  AuthSetupError: (why: string) => why,
})

/** The token of a header `Authorization: Bearer …` (RFC 6750 section 2.1); `''` for one in the wrong form. */
export function bearerOf(req: Request): string | undefined {
  const header = req.raw.header('authorization')
  if (header === undefined || !/^bearer\b/i.test(header)) return undefined
  return header.length > 8_192 ? '' : (/^bearer +([\w.~+/-]+=*)$/i.exec(header)?.[1] ?? '')
}

/** The hash of a random secret, which cannot be guessed from it: it needs no salt and need not be slow. */
export const hashOf = (secret: string): string => createHash('sha256').update(secret).digest('base64url')

export const random = (bytes: number): string => randomBytes(bytes).toString('base64url')

export const wrong: Verdict = { wrong: 'the credential is not valid' }

/** The verdict about what a function of the application has returned. */
export function verdictOf(subject: unknown, scopes: unknown): Verdict {
  // `map[token]` has found `__proto__`.
  if (!subject || subject === Object.prototype) return wrong
  // An empty list of rows and the like must not let anyone in.
  const kind = Array.isArray(subject) ? 'list' : typeof subject
  if (kind !== 'object') throw AuthSetupError(`a scheme has found a ${kind} as the caller, who must be an object`)
  return {
    subject: subject as AuthSubject,
    scopes: Array.isArray(scopes) ? scopes.filter((one) => typeof one === 'string') : [],
  }
}

/** The same for a caller that has its scopes itself. */
export const ownVerdictOf = (subject: unknown): Verdict =>
  verdictOf(subject, (subject as { readonly scopes?: unknown } | null | undefined)?.scopes)
