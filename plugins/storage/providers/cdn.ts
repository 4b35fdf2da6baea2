import { createPrivateKey, type KeyObject, sign } from 'node:crypto'
import { clock, hidden } from '../../../kernel/index.ts'
import { option, type SettingsOf } from '../../shared/options/index.ts'
import { safely } from '../../shared/values/safely.ts'
import { encodeKey } from '../key.ts'
import type { StorageDownloadHeaders } from './contract.ts'

/** A CloudFront distribution that serves a bucket. */
export interface CdnOptions {
  /** The address of the distribution: `'https://d111111abcdef8.cloudfront.net'`. */
  url: string
  /** The id of the public key that the distribution trusts; set it together with `privateKey`, or neither. */
  keyPairId?: string
  /** The RSA key that signs addresses, in PEM. */
  privateKey?: string
}

const privateKey = option
  .custom<string, KeyObject>('an RSA private key in PEM', (pem, place) => {
    // The message of the library may show the given string.
    const key = safely(() => createPrivateKey(pem as string))
    if (key?.asymmetricKeyType === 'rsa') return key
    return void place.wrong(hidden(pem), 'an RSA private key in PEM')
  })
  .secret()

const urlTakes = 'an address such as "https://d111111abcdef8.cloudfront.net", without query'

export const cdnOptions = option
  .shape({ url: option.text(/^https?:\/\/[^\s?#]+$/, urlTakes).required(), keyPairId: option.text(), privateKey })
  .into((given, place) => {
    if ((given.keyPairId === undefined) !== (given.privateKey === undefined))
      place.in('keyPairId').wrong(given.keyPairId, 'the id of the key together with privateKey, or neither of them')
    return given
  })
  .typed<CdnOptions>()

/** Makes addresses of objects on a CDN, signed ones only with a key. */
export function cdnOf({ url, keyPairId = '', privateKey }: SettingsOf<typeof cdnOptions>) {
  const urlOf = (key: string) => `${url.replace(/\/+$/, '')}/${encodeKey(key)}`

  /** Signs with what CloudFront calls a canned policy: one address, one expiry time. It supports only RSA with SHA-1. */
  const signed = (by: KeyObject, key: string, seconds: number, headers: StorageDownloadHeaders) => {
    const query = new URLSearchParams()
    // The names of S3, to which the distribution forwards them.
    if (headers.contentDisposition) query.set('response-content-disposition', headers.contentDisposition)
    if (headers.contentType) query.set('response-content-type', headers.contentType)
    const url = query.size > 0 ? `${urlOf(key)}?${query}&` : `${urlOf(key)}?`
    const expires = Math.floor(clock.now() / 1000) + seconds
    const condition = { DateLessThan: { 'AWS:EpochTime': expires } }
    const policy = JSON.stringify({ Statement: [{ Resource: url.slice(0, -1), Condition: condition }] })
    const base64 = sign('RSA-SHA1', Buffer.from(policy), by).toString('base64')
    const signature = base64.replaceAll('+', '-').replaceAll('=', '_').replaceAll('/', '~')
    return `${url}Expires=${expires}&Signature=${signature}&Key-Pair-Id=${encodeURIComponent(keyPairId)}`
  }
  return { url: urlOf, signedUrl: privateKey && signed.bind(undefined, privateKey) }
}
