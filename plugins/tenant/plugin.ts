import { defineErrors, definePlugin, quoted } from '../../kernel/index.ts'
import type { DescribedRoute } from '../openapi/index.ts'
import { lateWithin } from '../shared/http/late-within.ts'
import { RouteValue } from '../shared/http/route-value.ts'
import { addLogFields } from '../shared/logging/log-fields.ts'
import {
  currentTenant,
  inTenant,
  isTenantId,
  keepTenant,
  type Tenant,
  TenantIdError,
  tenantKeptBy,
  tenantLoaders,
  useTenants,
} from '../shared/values/tenants.ts'
import { type TenantMode, type TenantSettings, tenantOfRoute, tenantOptions } from './options.ts'

const { TenantLoadError, TenantRequiredError, UnknownTenantError } = defineErrors({
  TenantLoadError: (asked: string, id: unknown) =>
    `the option load of the plugin tenant has returned a tenant with the id ${quoted(id)} for "${asked}". Return that id from resolve, or { ...tenant, id } from load`,
  // The same for an unknown tenant: a client must not learn which ones there are.
  TenantRequiredError: [403, () => 'the request has no tenant, and this route needs one'],
  UnknownTenantError: (id: string) => `there is no tenant "${id}": the option load of the plugin tenant found none`,
})

/** The mode of each route, with the settings of the plugin that applies it: the innermost scope decides. */
const modes = new RouteValue<{ readonly mode: TenantMode; readonly by: TenantSettings }>()

/**
 * Finds the tenant of each request, which then separates cached responses and data, limits of callers, idempotency keys, messages, locks, objects
 * and channels, and is in logs and traces. A route requires one unless its option `tenant` or the plugin's option `default` says otherwise; without
 * one, the response is 403. Code asks `currentTenant()`.
 *
 * @example
 * import { Server } from 'framework'
 * import { bearer, userOf } from 'framework/plugins/auth'
 *
 * const people = new Map([['ann-s-key', { id: 'ann', tenant: 'acme' }]])
 * const server = new Server({
 *   plugins: {
 *     auth: { schemes: { token: bearer((token) => people.get(token)) } },
 *     tenant: { resolve: (req) => (userOf(req) as { tenant?: string } | undefined)?.tenant },
 *   },
 * })
 * server.get('/invoices', { tenant: 'required' }, (req) => ({ of: req.tenant.id }))
 * server.get('/about', { auth: false, tenant: false }, () => 'a shop')
 */
export const tenant = definePlugin({
  name: 'tenant',
  access: {
    guards: ({ options, settings }) =>
      (options?.tenant ?? (settings as TenantSettings).default) === 'required' && options !== undefined
        ? { conditions: { tenant: [] } }
        : undefined,
  },
  options: tenantOptions,
  routeOptions: { tenant: tenantOfRoute },
  openapi: {
    failures: ({ options, settings }: DescribedRoute): { readonly [status: string]: string } =>
      (options.tenant ?? (settings as TenantSettings).default) === 'required' ? { 403: 'Forbidden' } : {},
  },
  setup(ctx, settings) {
    useTenants()
    const find = async (id: string): Promise<Tenant | undefined> => {
      // Databases return `null` for a row that they do not have.
      const found = (isTenantId(id) ? await settings.load(id) : undefined) ?? undefined
      // A tenant by another name would not be found by its jobs.
      if (found !== undefined && found.id !== id) throw TenantLoadError(id, found.id)
      return found
    }
    tenantLoaders.set(ctx.server, async (id) => {
      const found = await find(id)
      if (found === undefined) throw UnknownTenantError(id)
      return found
    })
    ctx.onRoute((route) => modes.set(route, { mode: route.settings.tenant ?? settings.default, by: settings }))
    ctx.onClose(
      addLogFields((request) => {
        const id = (request === undefined ? currentTenant() : tenantKeptBy(request))?.id
        return id === undefined ? undefined : { tenant: id }
      }),
    )
    ctx.use(async function tenant(req, _res, next) {
      // Without a route, 404 and files: application-wide.
      const { mode, by } = modes.of(req) ?? { mode: false, by: settings }
      if (by !== settings) return next()
      if (mode === false) return inTenant(undefined, next)
      const id: unknown = await settings.resolve(req)
      const isGiven = id !== undefined && id !== null
      if (isGiven && typeof id !== 'string') throw TenantIdError(id)
      const found = isGiven ? await find(id as string) : undefined
      if (found === undefined && (isGiven || mode === 'required')) throw TenantRequiredError()
      if (found === undefined) return inTenant(found, next)
      Object.assign(req, { tenant: found })
      return inTenant(found, () => {
        keepTenant(req)
        return next()
      })
    })
    lateWithin(ctx, (req, work) => inTenant(tenantKeptBy(req), work))
  },
})
