import { createPrivateKey, type KeyObject, sign } from 'node:crypto'
import { checkOptions, hidden, OptionError } from '../../../kernel/index.ts'
import { encodeKey } from '../key.ts'
import { textOption } from '../options.ts'

/** A CloudFront distribution in front of a bucket. */
export interface CdnOptions {
  /** Where it answers, such as `'https://d111111abcdef8.cloudfront.net'`. */
  url: string
  /** The id of the public key that the distribution trusts; with `privateKey`, or neither. */
  keyPairId?: string
  /** The RSA key that signs, in PEM. */
  privateKey?: string
}

/** Addresses of objects behind a CDN. */
export class Cdn {
  readonly #url: string
  readonly #keyPairId: string
  readonly #key: KeyObject | undefined

  constructor(option: string, options: CdnOptions) {
    checkOptions(option, options, ['url', 'keyPairId', 'privateKey'])
    const { url, keyPairId, privateKey } = options
    textOption(`${option}.url`, url, 'an address such as "https://d111111abcdef8.cloudfront.net"')
    if (!/^https?:\/\/[^\s?#]+$/.test(url)) throw OptionError(`${option}.url`, url, 'an address without query')
    if ((keyPairId === undefined) !== (privateKey === undefined)) {
      throw OptionError(`${option}.keyPairId`, keyPairId, 'the id of the key beside privateKey, or neither of them')
    }
    this.#url = url.replace(/\/+$/, '')
    this.#keyPairId = keyPairId ?? ''
    this.#key = privateKey === undefined ? undefined : keyOf(option, privateKey)
  }

  get signs(): boolean {
    return this.#key !== undefined
  }

  url(key: string): string {
    return `${this.#url}/${encodeKey(key)}`
  }

  /** Signed with what CloudFront calls a canned policy: one address, one time. It knows RSA with SHA-1 alone. */
  signedUrl(key: string, seconds: number): string {
    const url = this.url(key)
    const expires = Math.floor(Date.now() / 1000) + seconds
    const condition = { DateLessThan: { 'AWS:EpochTime': expires } }
    const policy = JSON.stringify({ Statement: [{ Resource: url, Condition: condition }] })
    const base64 = sign('RSA-SHA1', Buffer.from(policy), this.#key!).toString('base64')
    const signature = base64.replaceAll('+', '-').replaceAll('=', '_').replaceAll('/', '~')
    return `${url}?Expires=${expires}&Signature=${signature}&Key-Pair-Id=${encodeURIComponent(this.#keyPairId)}`
  }
}

function keyOf(option: string, pem: string): KeyObject {
  try {
    const key = createPrivateKey(pem)
    if (key.asymmetricKeyType === 'rsa') return key
  } catch {
    // The message of the library may show what was given.
  }
  throw OptionError(`${option}.privateKey`, hidden(pem), 'an RSA private key in PEM')
}
