import { createHmac, timingSafeEqual } from 'node:crypto'
import { checkOptions, hidden, OptionError, quoted, sizeOption } from '../../../kernel/index.ts'
import { encodeKey } from '../key.ts'

/** How files of a disk get addresses. */
export interface SignedUrlsOptions {
  /** At least 16 characters; of several the first signs, all are accepted. */
  secret: string | readonly string[]
  /** What the addresses begin with, `https://files.example.org` for example. Default: nothing, they are paths. */
  origin?: string
  /** Where the storage plugin answers them. Default `'/storage'`; several disks need one each. */
  path?: string
  /** The largest object that an address takes, in bytes or as text such as `'5mb'`. Default `'100mb'`. */
  maxUploadSize?: number | string
}

/** What an address is good for. */
export interface Grant {
  readonly key: string
  /** The content type that was named when the address of an upload was made. */
  readonly contentType: string | undefined
}

/** Addresses that hold for one disk, one method, one key and a time; who changes one of them has no signature for it. */
export class SignedUrls {
  readonly path: string
  readonly maxUploadSize: number
  readonly #secrets: readonly string[]
  readonly #origin: string

  constructor(options: SignedUrlsOptions) {
    const option = 'LocalStorageProvider.signedUrls'
    checkOptions(option, options, ['secret', 'origin', 'path', 'maxUploadSize'])
    const { secret, origin = '', path = '/storage', maxUploadSize = '100mb' } = options
    const secrets: unknown = typeof secret === 'string' ? [secret] : secret
    const isLong = (one: unknown) => typeof one === 'string' && one.length >= 16
    if (!Array.isArray(secrets) || secrets.length === 0 || !secrets.every(isLong)) {
      const expected =
        'text of at least 16 characters, or a list of such texts: npx framework key-generate --type secret'
      throw OptionError(`${option}.secret`, hidden(secret), expected)
    }
    if (typeof origin !== 'string' || (origin !== '' && !/^https?:\/\/[^/?#\s]+$/.test(origin))) {
      throw OptionError(`${option}.origin`, origin, 'scheme and host, such as "https://files.example.org"')
    }
    if (typeof path !== 'string' || !/^(?:\/[\w.~-]+)+$/.test(path)) {
      throw OptionError(`${option}.path`, quoted(path), 'a path such as "/storage"')
    }
    this.#secrets = secrets
    this.#origin = origin
    this.path = path
    this.maxUploadSize = sizeOption(`${option}.maxUploadSize`, maxUploadSize)
  }

  make(method: 'GET' | 'PUT', key: string, seconds: number, contentType: string | undefined): string {
    const expires = String(Math.floor(Date.now() / 1000) + seconds)
    const query = new URLSearchParams({ expires })
    if (contentType !== undefined) query.set('type', contentType)
    query.set('signature', this.#sign(this.#secrets[0]!, method, key, expires, contentType))
    return `${this.#origin}${this.path}/${encodeKey(key)}?${query}`
  }

  /** What the address of a request grants; `undefined` for one that is forged, or too old. */
  grant(method: 'GET' | 'PUT', key: string, query: { readonly [name: string]: unknown }): Grant | undefined {
    const { expires, signature, type } = query
    if (typeof expires !== 'string' || typeof signature !== 'string') return undefined
    if (type !== undefined && typeof type !== 'string') return undefined
    const given = Buffer.from(signature)
    const isOurs = this.#secrets.some((secret) => {
      const right = Buffer.from(this.#sign(secret, method, key, expires, type))
      return given.length === right.length && timingSafeEqual(given, right)
    })
    // Seconds that were signed are digits.
    if (!isOurs || Number(expires) * 1000 <= Date.now()) return undefined
    return { key, contentType: type }
  }

  /**
   * With the path, or an address of one disk would hold for another that has the same secret. In JSON, so that no two lists of
   * values are one text.
   */
  #sign(secret: string, method: string, key: string, expires: string, type: string | undefined): string {
    return createHmac('sha256', secret)
      .update(JSON.stringify([this.path, method, key, expires, type ?? null]))
      .digest('base64url')
  }
}
