import { secrets } from '../shared/environment/secrets.ts'
import { option, type SettingsOf } from '../shared/options/index.ts'
import { attributes } from './attributes.ts'
import type { SetCookieOptions } from './set-cookie.ts'

/** Options of the cookie plugin. */
export interface CookieOptions {
  /** Signs and checks cookies. The first secret signs, all are accepted, so that secrets can be replaced. Random, 32 characters or more. */
  secret?: string | readonly string[]
  /** Attributes of all cookies that do not set their own, merged over `{ path: '/', httpOnly: true, sameSite: 'lax' }`. */
  defaults?: SetCookieOptions
}

export const cookieOptions = option
  .shape({ secret: secrets, defaults: attributes })
  .into(({ secret = [], defaults }, place) => {
    if (defaults.signed && secret.length === 0)
      place.in('defaults').in('signed').wrong(true, 'a secret together with it: cookie: { secret: … }')
    return { secrets: secret, defaults }
  })
  .typed<CookieOptions>()

export type CookieSettings = SettingsOf<typeof cookieOptions>
