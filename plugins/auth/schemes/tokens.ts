import { randomUUID } from 'node:crypto'
import { clock, defineErrors, OptionError } from '../../../kernel/index.ts'
import { everyConnections, loginKey } from '../../shared/http/connections.ts'
import { option } from '../../shared/options/index.ts'
import { defined } from '../../shared/values/json.ts'
import { type AuthScheme, type Awaitable, hashOf, random } from '../scheme.ts'
import type { RefreshTokenStore } from '../stores/refresh-tokens.ts'
import type { Jwk, JwtClaims } from './jwk.ts'
import { hmacSecrets, type JwtAlgorithm, type JwtOptions, jwt } from './jwt.ts'
import { loadJose } from './keys.ts'

/** Options of tokens that the application issues. */
export interface TokenOptions extends Pick<JwtOptions, 'clockSkew' | 'subject'> {
  /** The secret of `HS256`: the first of a list signs and all are accepted. Random, 32 characters or more. */
  secret?: string | readonly string[]
  /** Private keys as JWKs with `kid` and `alg`, instead of `secret`: the first signs and all are accepted. */
  keys?: readonly Jwk[]
  /** Who signs: the name of this application. */
  issuer: string
  /** Who the tokens are for. Default: the issuer. */
  audience?: string
  /** SECONDS for which a token is valid, since it cannot be revoked. Default 600. */
  expiresIn?: number
  /** Returns the claims of a subject, at the log-in and at each refresh; nothing ends the log-in. Default: none but `sub`. */
  claims?: (subject: string) => Awaitable<JwtClaims | null | undefined>
  /** Where refresh tokens are kept; without it, there are none. */
  refresh?: RefreshTokenStore
  /** SECONDS after which an unused refresh token ends. Default 2592000, 30 days. */
  refreshExpiresIn?: number
}

/** The tokens for a client, with the names of RFC 6749 section 5.1. */
export interface IssuedTokens {
  /** The JWT. */
  readonly access_token: string
  /** `Bearer`. */
  readonly token_type: 'Bearer'
  /** SECONDS for which the JWT is valid. */
  readonly expires_in: number
  /** The token for the next `refresh`, once; with the option `refresh`. */
  readonly refresh_token?: string
}

/** Tokens of the application: a scheme, and how they are made. */
export interface TokenScheme extends AuthScheme {
  /** Signs claims as a JWT; `expiresIn` in SECONDS. */
  sign(claims: JwtClaims, options?: { readonly expiresIn?: number }): Promise<string>
  /** Returns the tokens for a log-in. */
  issue(subject: string): Promise<IssuedTokens>
  /**
   * Returns new tokens for a refresh token, which is then used up. A token that comes a second time was stolen, or its thief was faster: the whole
   * log-in ends, with its websockets and event streams, and its owner signs in again.
   *
   * @throws (as a rejection) RefreshTokenError, with the status 401.
   */
  refresh(token: string): Promise<IssuedTokens>
  /** Ends the log-in of a refresh token, with its websockets and event streams. A JWT of it stays valid until it expires. */
  revoke(token: string): Promise<void>
}

const { RefreshTokenError } = defineErrors({
  RefreshTokenError: [401, () => 'the refresh token is not valid, or was used before. Sign in again'],
})

const seconds = option.int({ min: 1, unit: 'seconds' })
const tokenOptions = option
  .shape({
    secret: hmacSecrets,
    keys: option.list(option.value<Jwk>('a private JWK with kid and alg', isPrivate), { min: 1 }).secret(),
    issuer: option.name().required(),
    audience: option.name(),
    expiresIn: seconds.default(600),
    claims: option.fn<NonNullable<TokenOptions['claims']>>('a function (subject) => claims'),
    refresh: option.having<RefreshTokenStore>(
      ['create', 'rotate', 'end'],
      'a store: memoryRefreshTokens() or your own',
    ),
    refreshExpiresIn: seconds.default(2_592_000),
    clockSkew: option.number(),
    subject: option.fn<NonNullable<TokenOptions['subject']>>(),
  })
  .into((given, place) => {
    if ((given.keys === undefined) === (given.secret === undefined))
      place.problem(
        `"${place.path}" takes secret or keys, and ${given.keys === undefined ? 'has neither' : 'not both'}`,
      )
    return given
  })

function isPrivate(given: unknown): boolean {
  const { kty, d, kid, alg } = (given ?? {}) as Jwk
  return kty !== 'oct' && [d, kid, alg].every((one) => typeof one === 'string')
}

/** The public members of a private key (RFC 7517 section 4, RFC 7518 section 6). */
const publicOf = ({ kty, kid, alg, use, crv, x, y, n, e }: Jwk): Jwk => defined({ kty, kid, alg, use, crv, x, y, n, e })

/** The parts of a refresh token: the id of its family and the hash of its secret. */
function partsOf(token: unknown): { readonly id: string; readonly hash: string } {
  const [, id, secret] = /^([\w-]{22})\.([\w-]{43})$/.exec(String(token)) ?? []
  if (id === undefined) throw RefreshTokenError()
  return { id, hash: hashOf(secret!) }
}

/** Names a log-in in its JWTs. */
const loginOf = (token: string) => hashOf(token.slice(0, 22))

/**
 * Issues and accepts JWTs of the application's own, with refresh tokens that are used once.
 *
 * @throws OptionError
 * @example
 * import { Server } from 'framework'
 * import { memoryRefreshTokens, tokens } from 'framework/plugins/auth'
 *
 * const logins = tokens({ secret: process.env.TOKEN_SECRET!, issuer: 'https://shop.example.org', refresh: memoryRefreshTokens() })
 * const server = new Server({ plugins: { auth: { schemes: { logins } } } })
 * server.post('/token', { auth: false }, () => logins.issue('ada'))
 */
export function tokens(given: TokenOptions): TokenScheme {
  const options = tokenOptions.parse(given, 'tokens')
  const { secret, keys, issuer, audience = issuer, expiresIn, claims: claimsOf, refresh: store } = options
  const [first] = keys ?? []
  const algorithm = first?.alg ?? 'HS256'
  const algorithms = (keys?.map(({ alg }) => alg) ?? [algorithm]) as JwtAlgorithm[]
  const jwks = keys && { keys: keys.map(publicOf) }
  const { clockSkew, subject } = options
  const scheme = jwt({ algorithms, issuer, audience, ...(jwks ? { jwks } : { secret }), clockSkew, subject })

  async function sign(claims: JwtClaims, more: { readonly expiresIn?: number } = {}): Promise<string> {
    const { SignJWT, importJWK } = await loadJose()
    const key = first === undefined ? new TextEncoder().encode(secret![0]) : await importJWK(first!, algorithm)
    const now = Math.floor(clock.now() / 1_000)
    const lifetime = seconds.default(expiresIn).parse(more.expiresIn, 'sign.expiresIn')
    const standard = { iss: issuer, aud: audience, iat: now, exp: now + lifetime, jti: randomUUID() }
    const kid = first?.kid
    return new SignJWT({ ...claims, ...standard })
      .setProtectedHeader({ alg: algorithm, typ: 'JWT', ...(kid !== undefined && { kid }) })
      .sign(key)
  }
  async function tokensFor(subject: string, refreshToken: string | undefined): Promise<IssuedTokens | undefined> {
    const claims = claimsOf === undefined ? {} : await claimsOf(subject)
    if (claims === null || claims === undefined) return undefined
    // A hash: the id itself would end the log-in.
    const login = refreshToken === undefined ? {} : { sid: loginOf(refreshToken) }
    const token = await sign({ ...claims, ...login, sub: subject })
    const more = refreshToken === undefined ? {} : { refresh_token: refreshToken }
    return { access_token: token, token_type: 'Bearer', expires_in: expiresIn, ...more }
  }
  const storeOf = () => {
    if (store === undefined) throw OptionError('tokens.refresh', store, 'a store of refresh tokens')
    return store
  }
  const expiresAt = () => clock.now() + options.refreshExpiresIn * 1_000
  const end = async (known: RefreshTokenStore, id: string) => {
    const ended = await known.end(id)
    // Not for each token that someone invents: an order goes to all instances.
    if (ended === false || ended === 0) return
    const key = loginKey(loginOf(id))
    // A failure is in the log: the log-in has ended.
    await Promise.allSettled([...everyConnections()].map((connections) => connections.end(key)))
  }

  return {
    ...scheme,
    sign,
    async issue(subject) {
      if (typeof subject !== 'string' || subject === '')
        throw OptionError('issue', subject, 'the id of the account, a string')
      const [id, next] = [random(16), random(32)]
      const issued = await tokensFor(subject, store && `${id}.${next}`)
      if (issued === undefined) throw RefreshTokenError()
      await store?.create({ id, subject, token: hashOf(next), expiresAt: expiresAt() })
      return issued
    },
    async refresh(token) {
      const known = storeOf()
      const { id, hash } = partsOf(token)
      const next = random(32)
      const subject = await known.rotate(id, hash, hashOf(next), expiresAt())
      try {
        const issued = typeof subject === 'string' ? await tokensFor(subject, `${id}.${next}`) : undefined
        if (issued !== undefined) return issued
      } catch (error) {
        // The client keeps its token, with which it may try again. If the store fails here, that must not hide why.
        const back = async () => known.rotate(id, hashOf(next), hash, expiresAt())
        await back().catch((cause: unknown) => Object.assign(Object(error), { cause: Object(error).cause ?? cause }))
        throw error
      }
      await end(known, id)
      throw RefreshTokenError()
    },
    async revoke(token) {
      await end(storeOf(), partsOf(token).id)
    },
  }
}
