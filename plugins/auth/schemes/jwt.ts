import { clock, isFrameworkError, type OptionPlace, type Request } from '../../../kernel/index.ts'
import { isLoopbackHost } from '../../shared/development/loopback.ts'
import { option } from '../../shared/options/index.ts'
import { Memoized } from '../../shared/values/memoize.ts'
import {
  type AuthScheme,
  type AuthSubject,
  type Awaitable,
  bearerOf,
  type Verdict,
  verdictOf,
  wrong,
} from '../scheme.ts'
import type { JwkSet, JwtClaims } from './jwk.ts'
import { type Jose, loadJose, localKeys, remoteKeys, secretKeys } from './keys.ts'

const family = <Name extends string>(name: Name) => [`${name}256`, `${name}384`, `${name}512`] as const
const algorithms = [...family('HS'), ...family('ES'), 'EdDSA', 'Ed25519', ...family('PS'), ...family('RS')] as const

/** A signature algorithm of JWTs (RFC 7518); not `none`. */
export type JwtAlgorithm = (typeof algorithms)[number]

/** Options of JWTs. */
export interface JwtOptions {
  /** The accepted algorithms: the one in the header of a token is chosen by its sender. */
  algorithms: readonly JwtAlgorithm[]
  /** Who has signed the tokens, compared exactly. */
  issuer: string | readonly string[]
  /** Who the tokens are for: without it, a token for another API of the same issuer would be valid. */
  audience: string | readonly string[]
  /** The public keys: the https address of the issuer's JWKS, or a JWKS. */
  jwks?: string | JwkSet
  /** The secret of `HS…`, of 32 characters or more, instead of `jwks`; of a list, each is accepted. */
  secret?: string | readonly string[]
  /** SECONDS by which the clocks may differ. Default 5. */
  clockSkew?: number
  /** SECONDS for which fetched keys are used. Default 600. */
  maxAge?: number
  /** The header `typ` that tokens must have, such as `at+jwt` (RFC 9068). */
  type?: string
  /** Returns the caller for the claims; nothing refuses it. Default: the claims, with `sub` as `id`. */
  subject?: (claims: JwtClaims, req: Request) => Awaitable<AuthSubject | null | undefined>
}

const names = option.either(option.name(), option.list(option.name(), { min: 1 }))

const isSymmetric = (algorithm: string): boolean => algorithm.startsWith('HS')
const isJwks = (given: unknown) => Array.isArray((given as { keys?: unknown } | null)?.keys)
const takesAddress = 'an address with https (http on this machine), or a JWKS: { keys: [ … ] }'

/** An option for the secrets of `HS…`; RFC 7518 section 3.2 asks for as many bits as the hash has. */
export const hmacSecrets = option
  .custom<string | readonly string[], readonly string[]>('', (given, place) => {
    const all: readonly unknown[] = Array.isArray(given) ? [...given] : [given]
    if (all.length > 0 && all.every((one) => typeof one === 'string' && one.length >= 32)) return all as string[]
    return void place.wrong(given, 'a random string of 32 characters or more, or a list of them')
  })
  .secret()

const jwtOptions = option
  .shape({
    algorithms: option.list(option.oneOf(...algorithms), { min: 1 }).required(),
    issuer: names.required(),
    audience: names.required(),
    jwks: option.custom<string | JwkSet, URL | JwkSet>(takesAddress, readJwks),
    secret: hmacSecrets,
    clockSkew: option.number({ min: 0, max: 300, unit: 'seconds' }).default(5),
    maxAge: option.number({ min: 30, max: 86_400, unit: 'seconds' }).default(600),
    type: option.name(),
    subject: option.fn<NonNullable<JwtOptions['subject']>>('a function (claims, req) => subject'),
  })
  .into((given, place) => {
    const { algorithms, jwks, secret } = given
    if ((jwks === undefined) === (secret === undefined))
      place.problem(`"${place.path}" takes jwks or secret, one of the two`)
    // With both kinds, a client could sign with the public key as if it were the secret (RFC 8725 section 2.1).
    for (const one of algorithms ?? [])
      if (isSymmetric(one) !== (secret !== undefined))
        place
          .in('algorithms')
          .wrong(
            one,
            secret === undefined ? 'algorithms of public keys with jwks' : 'HS256, HS384 or HS512 with a secret',
          )
    return given
  })
  .typed<JwtOptions>()

function readJwks(given: unknown, place: OptionPlace): URL | JwkSet | undefined {
  if (typeof given !== 'string' && isJwks(given)) return given as JwkSet
  const url = typeof given === 'string' && URL.canParse(given) ? new URL(given) : undefined
  if (url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopbackHost(url.host))) return url
  return void place.wrong(given, takesAddress)
}

/** Why a token is wrong; an error that is not about the token is thrown. */
function refusalOf(jose: Jose, error: unknown): Verdict {
  if (error instanceof jose.errors.JWTExpired) return { wrong: 'the credential has expired' }
  if (isFrameworkError(error) || !(error instanceof jose.errors.JOSEError || error instanceof TypeError)) throw error
  return wrong
}

/** The scopes of a token: a string (RFC 8693 section 4.2) or a list. */
export const scopesOf = ({ scope, scp }: JwtClaims): unknown => {
  const given = scope ?? scp
  return typeof given === 'string' ? given.split(' ') : given
}

/**
 * Authenticates by signed tokens, `Authorization: Bearer <JWT>`, with the package `jose`. The algorithm, the issuer, the audience and the
 * time are checked; keys that a token brings along (`jwk`, `jku`, `x5c`, `x5u`) are ignored. Scopes are those of the claim `scope` or `scp`.
 *
 * @throws OptionError
 * @example
 * const plugin = auth({
 *   schemes: {
 *     login: jwt({
 *       algorithms: ['RS256'],
 *       issuer: 'https://login.example.org',
 *       audience: 'https://orders.example.org',
 *       jwks: 'https://login.example.org/.well-known/jwks.json',
 *     }),
 *   },
 * })
 */
export function jwt(given: JwtOptions): AuthScheme {
  const { algorithms, issuer, audience, jwks, secret, clockSkew, maxAge, type, subject } = jwtOptions.parse(
    given,
    'jwt',
  )
  const loaded = new Memoized(async () => {
    const jose = await loadJose()
    const keys =
      secret !== undefined
        ? secretKeys(jose, secret)
        : jwks instanceof URL
          ? remoteKeys(jose, jwks, maxAge * 1_000)
          : localKeys(jose, jwks!)
    return { jose, keys }
  })
  return {
    challenge: 'Bearer',
    header: 'authorization',
    description: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
    prepare: async () => void (await loaded.get()),
    async authenticate(req) {
      const token = bearerOf(req)
      if (token === undefined) return undefined
      if (token === '') return wrong
      // Another scheme may have opaque tokens.
      if (token.split('.').length !== 3) return undefined
      const { jose, keys } = await loaded.get()
      let claims: JwtClaims
      try {
        claims = await keys.verify(token, {
          algorithms: [...algorithms],
          issuer: [issuer].flat() as string[],
          audience: [audience].flat() as string[],
          clockTolerance: clockSkew,
          currentDate: new Date(clock.now()),
          requiredClaims: subject === undefined ? ['exp', 'sub'] : ['exp'],
          ...(type !== undefined && { typ: type }),
        })
      } catch (error) {
        return refusalOf(jose, error)
      }
      const verdict = verdictOf(
        subject === undefined ? ({ ...claims, id: claims.sub } as unknown as AuthSubject) : await subject(claims, req),
        scopesOf(claims),
      )
      // The session of the caller, by the name that OpenID Connect gives it.
      return typeof claims.sid === 'string' && 'subject' in verdict ? { ...verdict, login: claims.sid } : verdict
    },
  }
}
