import { createHmac, timingSafeEqual } from 'node:crypto'

// 32 bytes as base64url, and the leading dot.
const macLength = 43

/**
 * Signs cookies with the first secret and accepts the signatures of all (HMAC-SHA256).
 *
 * The name is part of the signed data: otherwise a value signed for one cookie would be valid in another.
 */
export class Signer {
  readonly #secrets: readonly string[]

  constructor(secrets: readonly string[]) {
    this.#secrets = secrets
    // Loads the code for signing now, and not with the first request that needs it.
    if (secrets.length > 0) mac(secrets[0]!, '', '')
  }

  /** The value with its signature after a dot. */
  sign(name: string, value: string): string {
    return `${value}.${mac(this.#secrets[0]!, name, value)}`
  }

  /** The value without its signature, `undefined` when that is invalid. */
  verify(name: string, signed: string): string | undefined {
    return this.check(name, signed)?.value
  }

  /** The same `value`, and with `isCurrent` whether `sign` would return this string again: not with the signature of an older secret. */
  check(name: string, signed: string): { readonly value: string; readonly isCurrent: boolean } | undefined {
    const dot = signed.length - macLength - 1
    if (dot < 0 || signed.charCodeAt(dot) !== 46) return undefined
    const value = signed.slice(0, dot)
    // Compares the strings and not their bytes: four last letters of base64url mean the same bytes.
    const given = Buffer.from(signed.slice(dot + 1))
    if (given.length !== macLength) return undefined
    const by = this.#secrets.findIndex((secret) => timingSafeEqual(given, Buffer.from(mac(secret, name, value))))
    return by === -1 ? undefined : { value, isCurrent: by === 0 }
  }
}

/** A name has no `=`, so no two pairs of name and value are the same string. */
function mac(secret: string, name: string, value: string): string {
  return createHmac('sha256', secret).update(`${name}=${value}`).digest('base64url')
}
