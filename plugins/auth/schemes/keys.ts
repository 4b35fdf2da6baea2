import type { JWTPayload, JWTVerifyOptions } from 'jose'
import { clock, systemClock } from '../../../kernel/index.ts'
import { peer } from '../../shared/environment/optional-package.ts'
import { sharing } from '../../shared/values/memoize.ts'
import { AuthenticationUnavailableError } from '../scheme.ts'
import type { JwkSet } from './jwk.ts'

export type Jose = typeof import('jose')
export const loadJose = (): Promise<Jose> => peer('jose', () => import('jose'), 'auth with JWTs')

/** Verifies a token with one of the keys. */
export interface Keys {
  verify(token: string, options: JWTVerifyOptions): Promise<JWTPayload>
}

/** Milliseconds between two requests for the keys of an issuer: tokens with made-up key ids must not become a flood of them. */
const cooldown = 30_000
/** The same after a failure, while every request needs the keys. */
const retry = 1_000
const maxBytes = 512 * 1024

export function secretKeys(jose: Jose, secrets: readonly string[]): Keys {
  const keys = secrets.map((one) => new TextEncoder().encode(one))
  return {
    async verify(token, options) {
      for (const key of keys) {
        try {
          return (await jose.jwtVerify(token, key, options)).payload
        } catch (error) {
          if (!(error instanceof jose.errors.JWSSignatureVerificationFailed) || key === keys.at(-1)) throw error
        }
      }
      throw new Error('there is no key')
    },
  }
}

export function localKeys(jose: Jose, jwks: JwkSet): Keys {
  const key = jose.createLocalJWKSet(jwks)
  return { verify: async (token, options) => (await jose.jwtVerify(token, key, options)).payload }
}

/**
 * The keys of an issuer, fetched from its address and kept for `maxAge` milliseconds. A token with an unknown key id makes them be fetched again, at
 * most once in 30 seconds. Without keys that are young enough, no token is valid: one that the issuer has withdrawn might be.
 */
export function remoteKeys(jose: Jose, url: URL, maxAge: number): Keys {
  let current: { readonly keys: Keys; readonly at: number } | undefined
  let failed: { readonly at: number; readonly error: Error } | undefined

  const load = sharing(async (): Promise<Keys> => {
    const patience = new AbortController()
    const timer = systemClock.setTimeout(() => patience.abort(new Error('there was no response within 5 s')), 5_000)
    try {
      // Redirects would let another server than the named one decide who may enter.
      const response = await fetch(url, { redirect: 'error', signal: patience.signal })
      if (!response.ok) throw new Error(`the response has the status ${response.status}`)
      const keys = localKeys(jose, JSON.parse(await textOf(response)) as JwkSet)
      current = { keys, at: clock.monotonic() }
      failed = undefined
      return keys
    } catch (cause) {
      const error = Object.assign(AuthenticationUnavailableError(`the keys of ${url.origin} could not be fetched`), {
        cause,
      })
      failed = { at: clock.monotonic(), error }
      throw error
    } finally {
      systemClock.clear(timer)
    }
  })
  const fetched = () => {
    if (failed !== undefined && clock.monotonic() - failed.at < retry) throw failed.error
    return load()
  }

  return {
    async verify(token, options) {
      const known = current
      const age = known === undefined ? Infinity : clock.monotonic() - known.at
      if (known === undefined || age >= maxAge) return (await fetched()).verify(token, options)
      try {
        return await known.keys.verify(token, options)
      } catch (error) {
        if (!(error instanceof jose.errors.JWKSNoMatchingKey) || age < cooldown) throw error
        // Since failures are limited too: an issuer that is away must not be asked for every made-up id.
        if (failed !== undefined && clock.monotonic() - failed.at < cooldown) throw error
        return (await fetched()).verify(token, options)
      }
    },
  }
}

/** The body as text, within the limit. */
async function textOf({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength
    if (size > maxBytes) throw new Error(`the response is larger than ${maxBytes} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}
