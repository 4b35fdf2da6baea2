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

/** A key (RFC 7517 section 4). Its own type: that of jose would not compile in an application that has no tokens. */
export interface Jwk {
  /** The kind of key: `EC`, `OKP` or `RSA`. */
  kty?: string
  /** The id of the key, by which tokens name it. */
  kid?: string
  /** The algorithm of its signatures. */
  alg?: string
  /** What it is for: `sig` or `enc`. */
  use?: string
  /** The operations it is for, such as `verify`. */
  key_ops?: string[]
  /** Whether a `CryptoKey` of it can be exported. */
  ext?: boolean
  /** The curve of `EC` and `OKP` (RFC 7518 section 6.2). */
  crv?: string
  /** A coordinate of the public key of `EC`, or the public key of `OKP`. */
  x?: string
  /** The other coordinate of `EC`. */
  y?: string
  /** The private key. */
  d?: string
  /** The modulus of `RSA` (RFC 7518 section 6.3). */
  n?: string
  /** Its exponent. */
  e?: string
  /** The first prime of a private `RSA` key. */
  p?: string
  /** The second prime. */
  q?: string
  /** The exponent of the first prime. */
  dp?: string
  /** The exponent of the second prime. */
  dq?: string
  /** The coefficient of the first prime. */
  qi?: string
  /** A symmetric key, which is refused here: use a secret. */
  k?: string
  /** Certificates, which are ignored, as are the next three. */
  x5c?: string[]
  /** The SHA-1 of a certificate. */
  x5t?: string
  /** The SHA-256 of a certificate. */
  'x5t#S256'?: string
  /** The address of certificates. */
  x5u?: string
}

/** Keys as an issuer publishes them (RFC 7517 section 5). */
export interface JwkSet {
  /** The keys; a token names one by its `kid`. */
  keys: Jwk[]
}
