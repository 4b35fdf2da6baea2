import type { Request } from '../../kernel/index.ts'
import { option, type SettingsOf } from '../shared/options/index.ts'
import type { Tenant } from '../shared/values/tenants.ts'

/** Whether a route has a tenant: `false`, it is application-wide; `'optional'`, it is so for requests without one. */
export type TenantMode = 'required' | 'optional' | false

/** Options of tenants. */
export interface TenantOptions {
  /**
   * Returns the id of the tenant of a request, after sessions and `auth`: from the caller, or from the host or the path if the caller may use that
   * tenant. `undefined` means that it has none. Never from a header or a query alone: a client can send any.
   */
  resolve: (req: Request) => string | undefined | Promise<string | undefined>
  /** Returns the tenant of an id, for requests and for jobs; `undefined` if there is none. Default: `{ id }`. */
  load?: (id: string) => Tenant | undefined | Promise<Tenant | undefined>
  /** The mode of routes without the option `tenant`. Default `'required'`. */
  default?: TenantMode
}

const mode = option.oneOf('required', 'optional', false).guard()

export const tenantOptions = option
  .shape({
    resolve: option.fn<TenantOptions['resolve']>('a function (req) => id').required(),
    load: option.fn<NonNullable<TenantOptions['load']>>('a function (id) => tenant').default((id: string) => ({ id })),
    default: mode.default('required'),
  })
  .typed<TenantOptions>()

export type TenantSettings = SettingsOf<typeof tenantOptions>

export const tenantOfRoute = mode
