import { createHmac, timingSafeEqual } from 'node:crypto'
import { clock } from '../../../kernel/index.ts'
import { option, type SettingsOf } from '../../shared/options/index.ts'
import { encodeKey } from '../key.ts'
import type { StorageDownloadHeaders } from './contract.ts'

/** Options of the addresses of a disk. */
export interface SignedUrlsOptions {
  /** Signs the addresses; at least 16 characters. The first of several secrets signs, and all are accepted. */
  secret: string | readonly string[]
  /** The beginning of the addresses, `https://files.example.org` for example. Default: none, so they are paths. */
  origin?: string
  /** The path at which the storage plugin serves them. Default `'/storage'`; several disks need one each. */
  path?: string
  /** The largest object for an upload address, in bytes or a string such as `'5mb'`. Default `'100mb'`. */
  maxUploadSize?: number | string
}

const secretTakes =
  'a string of at least 16 characters, or a list of such strings, as the command key-generate --type secret makes them'
const secret = option.text(/^.{16,}$/s, secretTakes).secret()
const isOrigin = (given: unknown) => given === '' || (typeof given === 'string' && /^https?:\/\/[^/?#\s]+$/.test(given))

export const signedUrlsOptions = option
  .shape({
    secret: option
      .either(secret, option.list(secret, { min: 1 }))
      .says(secretTakes)
      .secret()
      .into((given): readonly string[] => [given].flat())
      .required(),
    origin: option.value<string>('scheme and host, such as "https://files.example.org"', isOrigin).default(''),
    path: option.name(/^(?:\/[\w.~-]+)+$/, 'a path such as "/storage"').default('/storage'),
    maxUploadSize: option.size().default('100mb'),
  })
  .typed<SignedUrlsOptions>()

/** The rights that an address grants: what its response has, and for an upload address the content type that was given. */
export interface Grant extends StorageDownloadHeaders {
  readonly key: string
}

/** Addresses for one disk, one method, one key and a limited time; changing any of these invalidates the signature. */
export function signedUrlsOf({ secret, origin, path, maxUploadSize }: SettingsOf<typeof signedUrlsOptions>) {
  /**
   * Signs the path as well: otherwise an address of one disk would be valid for another with the same secret. In JSON, so that no two
   * lists of values become the same string.
   */
  const sign = (by: string, ...values: readonly (string | undefined)[]) =>
    createHmac('sha256', by)
      .update(JSON.stringify([path, ...values]))
      .digest('base64url')

  return {
    path,
    maxUploadSize,

    make(method: 'GET' | 'PUT', key: string, seconds: number, headers: StorageDownloadHeaders): string {
      const { contentType, contentDisposition } = headers
      const expires = String(Math.floor(clock.now() / 1000) + seconds)
      const query = new URLSearchParams({ expires })
      if (contentType !== undefined) query.set('type', contentType)
      if (contentDisposition !== undefined) query.set('disposition', contentDisposition)
      query.set('signature', sign(secret[0]!, method, key, expires, contentType, contentDisposition))
      return `${origin}${path}/${encodeKey(key)}?${query}`
    },

    /** The rights that a request's address grants; `undefined` if it is forged or expired. */
    grant(method: 'GET' | 'PUT', key: string, query: { readonly [name: string]: unknown }): Grant | undefined {
      const { expires, signature, type, disposition } = query
      if (typeof expires !== 'string' || typeof signature !== 'string') return undefined
      if (![type, disposition].every((given) => given === undefined || typeof given === 'string')) return undefined
      const headers = { contentType: type as string | undefined, contentDisposition: disposition as string | undefined }
      const given = Buffer.from(signature)
      const isOurs = secret.some((one) => {
        const right = Buffer.from(sign(one, method, key, expires, headers.contentType, headers.contentDisposition))
        return given.length === right.length && timingSafeEqual(given, right)
      })
      // The signed seconds consist of digits only.
      if (!isOurs || Number(expires) * 1000 <= clock.now()) return undefined
      return { key, ...headers }
    },
  }
}

export type SignedUrls = ReturnType<typeof signedUrlsOf>
