import type { Response, RouteResponse } from '../../kernel/index.ts'
import type { CookieCodec } from './codec.ts'
import type { SetCookieOptions } from './set-cookie.ts'

export type { CookieCodec } from './codec.ts'
export type { CookieOptions } from './options.ts'
export { cookie } from './plugin.ts'
export type { SetCookieOptions } from './set-cookie.ts'
export type { Signer } from './signature.ts'

// Augments the files that declare the interfaces: augmenting the entry point would hide this from applications that do the same.
declare module '../../kernel/http/request/request.ts' {
  interface Request {
    /** All cookies sent by the client, percent-decoded, signed ones including their signature; the first of each name. No prototype. */
    readonly cookies: { readonly [name: string]: string | undefined }
    /** The values of the cookies whose signature is valid, without that signature. No prototype. */
    readonly signedCookies: { readonly [name: string]: string | undefined }
    /** Returns one of `cookies` by its name. */
    cookie(name: string): string | undefined
  }
}

declare module '../../kernel/http/response/response.ts' {
  interface Response {
    /**
     * Sets a cookie: `Path=/; HttpOnly; SameSite=Lax`, and `Secure` over https, unless the options say otherwise. A
     * second cookie with the same name, domain and path replaces the first.
     *
     * @throws CookieError for a cookie that is invalid or that browsers do not keep.
     * @example
     * server.get('/', (req, res) => res.cookie('theme', 'dark', { maxAge: 30 * 24 * 3600 }).ok({ theme: 'dark' }))
     */
    cookie(name: string, value: string, options?: SetCookieOptions): Response
    /** Makes the browser forget a cookie; path and domain must be the ones that it was set with. */
    clearCookie(name: string, options?: SetCookieOptions): Response
  }
}

declare module '../../kernel/plugin/services.ts' {
  interface Services {
    /** Signs, checks and writes cookies, for plugins that keep data in a cookie. */
    cookie: CookieCodec
  }
}

declare module '../../kernel/routing/params.ts' {
  interface ResponseTypes<Options> {
    // The chained response keeps its types.
    /** Sets a cookie, like `res.cookie` of any response; chained calls keep the types of the route. */
    cookie(...given: Parameters<Response['cookie']>): RouteResponse<Options>
    /** Clears a cookie, like `res.clearCookie` of any response; chained calls keep the types of the route. */
    clearCookie(...given: Parameters<Response['clearCookie']>): RouteResponse<Options>
  }
}
