import { parseCookie } from 'cookie'
import type { Logger, Request, Response } from '../../kernel/index.ts'
import { secrets, warnOfWeak } from '../shared/environment/secrets.ts'
import { attributesOf, withDefaults } from './attributes.ts'
import type { CookieSettings } from './options.ts'
import { CookieError, isSameCookie, type SetCookieOptions, setCookieLine } from './set-cookie.ts'
import { Signer } from './signature.ts'

/** Cookie values by name, in an object without a prototype. */
export type Cookies = { readonly [name: string]: string | undefined }

/** Sets and clears one cookie, with the same attributes each time. */
export interface OwnCookie {
  /** Sets the cookie on a response. */
  set(req: Request, res: Response, value: string): void
  /** Makes the browser forget the cookie by setting it as expired. */
  clear(req: Request, res: Response): void
}

/** The attributes of a cookie that is set without any options. */
const builtIn: SetCookieOptions = { path: '/', httpOnly: true, sameSite: 'lax' }
const forgotten: SetCookieOptions = { maxAge: 0, expires: new Date(0) }

/** Reads, signs and writes cookies with the options of one registration of the plugin; also the service `cookie`. */
export class CookieCodec {
  readonly #signer: Signer | undefined
  readonly #defaults: SetCookieOptions

  constructor({ secrets, defaults }: CookieSettings) {
    this.#signer = secrets.length === 0 ? undefined : new Signer(secrets)
    this.#defaults = withDefaults(defaults, builtIn)
  }

  /** Makes a signer with secrets of its own, which are required; `option` is their name in messages. */
  signer(option: string, secret: string | readonly string[], log: Logger): Signer {
    const all = secrets.required().parse(secret, option)
    warnOfWeak(option, all, log)
    return new Signer(all)
  }

  /** Reads a `Cookie` header (RFC 6265 section 4.2): values by name, in an object without a prototype, signatures unchecked. */
  parse(header: string | undefined): Cookies {
    // Copied, because the objects of the parser have a prototype, although an empty one.
    return Object.assign(Object.create(null), header === undefined ? undefined : parseCookie(header)) as Cookies
  }

  /** Returns the cookies whose signature is valid; none without a secret. */
  verified(cookies: Cookies): Cookies {
    const verified: Record<string, string> = Object.create(null)
    if (this.#signer === undefined) return verified
    for (const name of Object.keys(cookies)) {
      const value = this.#signer.check(name, cookies[name]!)?.value
      if (value !== undefined) verified[name] = value
    }
    return verified
  }

  /** Sets a cookie as `res.cookie` does. */
  set(req: Request, res: Response, name: string, value: string, options?: SetCookieOptions): void {
    const attributes =
      options === undefined ? this.#defaults : withDefaults(attributesOf('res.cookie', options), this.#defaults)
    write(req, res, name, attributes.signed ? this.#sign(name, value) : value, attributes)
  }

  /** Makes the browser forget a cookie; path and domain must be the ones that it was set with. */
  clear(req: Request, res: Response, name: string, options: SetCookieOptions = {}): void {
    const given = attributesOf('res.clearCookie', options)
    write(req, res, name, '', { ...withDefaults(given, this.#defaults), ...forgotten })
  }

  /** Returns a cookie of a plugin, which does not use the application's defaults. */
  own(name: string, options: SetCookieOptions): OwnCookie {
    const attributes = withDefaults(options, builtIn)
    const gone = { ...attributes, ...forgotten }
    return {
      set: (req, res, value) => write(req, res, name, value, attributes),
      clear: (req, res) => write(req, res, name, '', gone),
    }
  }

  #sign(name: string, value: string): string {
    if (this.#signer === undefined)
      throw CookieError(name, 'cannot be signed without a secret. Give the plugin one: cookie: { secret: … }')
    return this.#signer.sign(name, value)
  }
}

function write(req: Request, res: Response, name: string, value: string, attributes: SetCookieOptions): void {
  const line = setCookieLine(name, value, attributes, req.protocol === 'https')
  const there = res.getHeader('set-cookie')
  const others = there === undefined ? [] : [there].flat().filter((one) => !isSameCookie(one, line))
  res.setHeader('set-cookie', [...others, line])
}
