/** The claims of a token (RFC 7519 section 4.1), and any others. */
export interface JwtClaims {
  iss?: string
  sub?: string
  aud?: string | string[]
  jti?: string
  /** SECONDS since 1970, as the next two. */
  nbf?: number
  exp?: number
  iat?: number
  [name: string]: unknown
}

/** A key (RFC 7517 section 4, RFC 7518 section 6). Its own type: that of jose would not compile in an application that has no tokens. */
export interface Jwk {
  kty?: string
  kid?: string
  alg?: string
  use?: string
  key_ops?: string[]
  ext?: boolean
  crv?: string
  x?: string
  y?: string
  d?: string
  n?: string
  e?: string
  p?: string
  q?: string
  dp?: string
  dq?: string
  qi?: string
  k?: string
  x5c?: string[]
  x5t?: string
  'x5t#S256'?: string
  x5u?: string
}

/** Keys as an issuer publishes them (RFC 7517 section 5). */
export interface JwkSet {
  keys: Jwk[]
}
