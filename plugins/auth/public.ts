// The names that `framework` has as well.
import type { AuthOption } from './options.ts'
import type { AuthSubject } from './scheme.ts'
import type { Auth } from './service.ts'

export type { AuthMode, AuthOption, AuthOptions, AuthRequirement } from './options.ts'
export type { AuthSubject } from './scheme.ts'

/** Nothing before the application has declared its callers: a `user` of its own may be of another type. */
type Calling = [keyof AuthSubject] extends [never] ? {} : { user?: AuthSubject }

// In the files that declare the interfaces: merging into the entry point would hide them from applications that merge into theirs.
declare module '../../kernel/http/request/request.ts' {
  interface Request extends Calling {}
}

declare module '../../kernel/routing/options.ts' {
  interface RouteOptions {
    /**
     * Whether callers must authenticate, with the plugin `auth`: `'required'`, `'optional'`, `false`, or the accepted `schemes` and the required
     * `scopes`. Default: the plugin's option `default`, otherwise `'required'`.
     */
    auth?: AuthOption
  }
}

declare module '../../kernel/routing/params.ts' {
  interface RequestExtensions<Options> {
    /** The caller, where the route requires one; exists for the type checker only. */
    auth: Options extends { readonly auth: 'required' | object } ? { readonly user: AuthSubject } : {}
  }
}

declare module '../../kernel/plugin/services.ts' {
  interface Services {
    /** Authenticates requests, with the plugin `auth`. */
    auth: Auth
  }
}
