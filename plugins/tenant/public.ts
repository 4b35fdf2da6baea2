// The names that `framework` has as well.
import type { Tenant } from '../shared/values/tenants.ts'
import type { TenantMode } from './options.ts'

export { currentTenant, type Tenant, withTenant } from '../shared/values/tenants.ts'
export type { TenantMode, TenantOptions } from './options.ts'

// In the files that declare the interfaces: merging into the entry point would hide them from applications that merge into theirs.
declare module '../../kernel/routing/options.ts' {
  interface RouteOptions {
    /**
     * Whether the route has a tenant, with the plugin `tenant`: `'required'`, `'optional'`, or `false` for an application-wide route. Default: the
     * plugin's option `default`, otherwise `'required'`.
     */
    tenant?: TenantMode
  }
}

declare module '../../kernel/routing/params.ts' {
  interface RequestExtensions<Options> {
    /** The tenant, where the route requires one; exists for the type checker only. */
    tenant: Options extends { readonly tenant: 'required' } ? { readonly tenant: Tenant } : {}
  }
}
