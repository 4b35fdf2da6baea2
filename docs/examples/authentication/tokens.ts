import { definePlugin, HttpError, PolicyManager, proves } from 'framework'
import { errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose'

declare module 'framework' {
  interface Request {
    token?: JWTPayload
  }
}

export interface TokenOptions {
  /** Who signs the tokens; compared exactly. */
  readonly issuer: string
  /** Who the tokens are for: the name of this API. A token for another API of the same issuer is refused. */
  readonly audience: string
  /** jose's `createRemoteJWKSet(new URL(…))`, which fetches the issuer's keys and keeps them. */
  readonly keys: JWTVerifyGetKey
}

/** False when the keys could not be fetched: the token may be valid, and a 401 would make every client sign in again. */
const isWrong = (cause: unknown) =>
  cause instanceof errors.JOSEError &&
  !(cause instanceof errors.JWKSTimeout || cause instanceof errors.JWKSInvalid || cause.code === 'ERR_JOSE_GENERIC')

/** Reads the bearer token of a request, if it has one. An invalid token is refused here, on every route. */
export const tokens = definePlugin({
  name: 'tokens',
  setup(ctx, { issuer, audience, keys }: TokenOptions) {
    ctx.use(async function readToken(req, _res, next) {
      const [, token] = /^bearer +(\S+)$/i.exec(req.headers.authorization ?? '') ?? []
      if (token === undefined) return next()
      try {
        const algorithms = ['ES256', 'RS256', 'EdDSA']
        const { payload } = await jwtVerify(token, keys, {
          issuer,
          audience,
          algorithms,
          requiredClaims: ['sub', 'exp'],
        })
        req.token = payload
      } catch (cause) {
        if (!isWrong(cause)) throw new HttpError(503, { cause, headers: { 'retry-after': '5' } })
        throw new HttpError(401, {
          code: 'INVALID_TOKEN',
          headers: { 'www-authenticate': 'Bearer error="invalid_token"' },
        })
      }
      return next()
    })
  },
})

const hasScope = (token: unknown, scope: string) => {
  const { scope: scopes } = (token ?? {}) as { scope?: unknown }
  return typeof scopes === 'string' && scopes.split(' ').includes(scope)
}

export const scopes = new PolicyManager(
  {
    orders: {
      read: proves<{ token: JWTPayload }>((token) => hasScope(token, 'orders:read')),
      write: proves<{ token: JWTPayload }>((token) => hasScope(token, 'orders:write')),
    },
  },
  { user: (req) => req.token, status: 'byUser', challenge: 'Bearer' },
)
