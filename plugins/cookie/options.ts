import { checkOptions, described, type Logger, OptionError } from '../../kernel/index.ts'
import { checkAttributes } from './attributes.ts'
import type { SetCookieOptions } from './set-cookie.ts'

/** Options of the cookie plugin. */
export interface CookieOptions {
  /** Signs and checks cookies: the first one signs, all are taken, so that secrets can be replaced. Random, 32 characters or more. */
  secret?: string | readonly string[]
  /** Attributes of cookies that say nothing else; over `{ path: '/', httpOnly: true, sameSite: 'lax' }`. */
  defaults?: SetCookieOptions
}

/** The options with every default in place, checked. */
export interface CookieSettings {
  readonly secrets: readonly string[]
  readonly defaults: SetCookieOptions
}

export function settingsOf(options: CookieOptions = {}): CookieSettings {
  checkOptions('cookie', options, ['secret', 'defaults'])
  const { secret, defaults = {} } = options
  const secrets = secret === undefined ? [] : checkSecrets('cookie.secret', secret)
  checkAttributes('cookie.defaults', defaults)
  if (defaults.signed && secrets.length === 0) {
    throw OptionError('cookie.defaults.signed', true, 'a secret beside it: cookie: { secret: … }')
  }
  return { secrets, defaults }
}

/** From this many characters on a secret is taken in production. */
const enough = 16

function isWeak(secret: string): boolean {
  return secret.length < enough
}

/** In production it is an error; elsewhere a short one is handy, and said to be one. */
export function warnOfWeak(option: string, secrets: readonly string[], log: Logger): void {
  if (secrets.some(isWeak)) {
    log.warn(`${option} is short enough to be guessed, and will be refused in production: use ${expected}`)
  }
}

const expected = `a random text of ${enough} characters or more, or a list of them: node -p "crypto.randomBytes(32).toString('base64url')"`

/** The secrets as a list. Never shows one: messages end in logs. */
export function checkSecrets(option: string, given: unknown): readonly string[] {
  const secrets: readonly unknown[] = Array.isArray(given) ? given : [given]
  const problem = secrets.length === 0 ? 'an empty list' : secrets.map(problemOf).find((one) => one !== undefined)
  if (problem !== undefined) throw OptionError(option, described(problem), expected)
  return secrets as readonly string[]
}

function problemOf(secret: unknown): string | undefined {
  if (typeof secret !== 'string') return secret === null ? 'null' : typeof secret
  if (secret.trim() === '') return 'an empty text'
  return isWeak(secret) && process.env.NODE_ENV === 'production' ? `${secret.length} characters long` : undefined
}
