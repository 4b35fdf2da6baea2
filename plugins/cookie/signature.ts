import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto'

// The length of 32 bytes in base64url.
const macLength = 43

/** A value whose signature is valid. */
interface SignedValue {
  /** Without the signature. */
  readonly value: string
  /** Whether `sign` would return this string again, which it would not if an older secret signed it. */
  readonly isCurrent: boolean
}

/**
 * Signs cookies with the first secret and accepts signatures made with any of them (HMAC-SHA256).
 *
 * The name is part of the signed data: otherwise a value signed for one cookie would be valid in another.
 */
export class Signer {
  /** Made once: with a string, each signature would make one. */
  readonly #keys: readonly KeyObject[]

  constructor(secrets: readonly string[]) {
    this.#keys = secrets.map((secret) => createSecretKey(secret, 'utf8'))
    // Loads the code for signing now, rather than with the first request that needs it.
    if (secrets.length > 0) mac(this.#keys[0]!, '', '')
  }

  /** Returns the value followed by a dot and its signature. */
  sign(name: string, value: string): string {
    return `${value}.${mac(this.#keys[0]!, name, value)}`
  }

  /** Returns the value without its signature, `undefined` when the signature is invalid. */
  check(name: string, signed: string): SignedValue | undefined {
    const dot = signed.length - macLength - 1
    if (dot < 0 || signed.charCodeAt(dot) !== 46) return undefined
    const value = signed.slice(0, dot)
    // Compares the strings rather than the decoded bytes: four different last characters in base64url decode to the same bytes.
    const given = Buffer.from(signed.slice(dot + 1))
    if (given.length !== macLength) return undefined
    const by = this.#keys.findIndex((key) => timingSafeEqual(given, Buffer.from(mac(key, name, value))))
    return by === -1 ? undefined : { value, isCurrent: by === 0 }
  }
}

/** Signs name and value. A name contains no `=`, so two different pairs never give the same string. */
function mac(key: KeyObject, name: string, value: string): string {
  return createHmac('sha256', key).update(`${name}=${value}`).digest('base64url')
}
