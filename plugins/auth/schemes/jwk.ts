import type { JsonWebKey } from 'node:crypto'

/** The claims of a token (RFC 7519 section 4.1), and any others. */
export interface JwtClaims {
  /** Who has signed the token. */
  iss?: string
  /** The id of the caller. */
  sub?: string
  /** Who the token is for. */
  aud?: string | string[]
  /** The id of the token. */
  jti?: string
  /** SECONDS since 1970 from which the token is valid. */
  nbf?: number
  /** SECONDS since 1970 at which it ends. */
  exp?: number
  /** SECONDS since 1970 at which it was signed. */
  iat?: number
  /** Any other claim. */
  [name: string]: unknown
}

/** A key (RFC 7517 section 4): that of Node.js, because that of jose would not compile in an application that has no tokens. Certificates are ignored. */
export interface Jwk extends JsonWebKey {
  /** The id of the key, by which tokens name it. */
  kid?: string
  /** The algorithm of its signatures. */
  alg?: string
  /** What it is for: `sig` or `enc`. */
  use?: string
}

/** Keys as an issuer publishes them (RFC 7517 section 5). */
export interface JwkSet {
  /** The keys; a token names one by its `kid`. */
  keys: Jwk[]
}
