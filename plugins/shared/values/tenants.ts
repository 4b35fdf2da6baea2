import { AsyncLocalStorage } from 'node:async_hooks'
import { defineErrors, quoted } from '../../../kernel/index.ts'

/**
 * Whose data a request or a job works with: `req.tenant` and {@link currentTenant}. Applications merge their own members into this interface, which the
 * option `load` of the plugin `tenant` returns.
 *
 * @example
 * declare module 'framework' {
 *   interface Tenant {
 *     plan?: 'free' | 'paid'
 *   }
 * }
 */
export interface Tenant {
  /** 1 to 64 letters, digits, `.`, `_` and `-`; the first is a letter or a digit, and the last is not a `.`. */
  readonly id: string
}

export const { TenantIdError } = defineErrors({
  TenantIdError: (id: unknown) =>
    `the id of a tenant has to be a string of 1 to 64 letters, digits, ".", "_" and "-" that begins with a letter or a digit and does not end with ".", not ${quoted(id)}`,
})

/** Such an id has none of the characters that separate the parts of keys, names and paths: two tenants never have one name. */
export const isTenantId = (id: unknown): id is string =>
  typeof id === 'string' && /^[A-Za-z0-9](?:[\w.-]{0,62}[\w-])?$/.test(id)

const running = new AsyncLocalStorage<Tenant | undefined>()
/** Whether this process has tenants: until then, nothing is looked up. */
let isUsed = false

/** Says that this process has tenants, before the first of them. */
export function useTenants(): void {
  isUsed = true
}

/** Does work for a tenant, or explicitly for none: what a tenant has begun, such as a timer or the start of a queue, must not keep it for others. */
export function inTenant<Result>(tenant: Tenant | undefined, work: () => Result): Result {
  if (tenant !== undefined) isUsed = true
  return currentTenant() === tenant ? work() : running.run(tenant, work)
}

/**
 * Returns the tenant of the running request, job or `withTenant`, through awaits, timers and callbacks; `undefined` for application-wide work.
 *
 * @example
 * const whose = () => currentTenant()?.id ?? 'all'
 */
export const currentTenant = (): Tenant | undefined => (isUsed ? running.getStore() : undefined)

/**
 * Does work for one tenant: its cache keys, objects, messages, channels and log lines are those of this tenant. For jobs and scripts that
 * run for all tenants; within a request of another tenant too. `undefined` does application-wide work.
 *
 * @throws TenantIdError.
 * @example
 * const reports = memoryQueue<{ month: string }>('reports')
 * const startReports = async (ids: string[]) => {
 *   for (const id of ids) await withTenant({ id }, () => reports.publish({ month: '2026-11' }))
 * }
 */
export function withTenant<Result>(tenant: Tenant | undefined, work: () => Result): Result {
  if (tenant !== undefined && !isTenantId(tenant?.id)) throw TenantIdError(tenant?.id)
  return inTenant(tenant, work)
}

/**
 * The name as the running tenant has it: `@acme/orders`. An application-wide name that begins with `@` becomes `@/@acme/orders`, in processes without
 * tenants too: another one with the same store may have them, and a lock must not change its name with the first tenant.
 */
export function nameInTenant(name: string, tenant: Tenant | undefined = currentTenant()): string {
  if (tenant !== undefined) return `@${tenant.id}/${name}`
  return name.startsWith('@') ? `@/${name}` : name
}

/** The beginning of the keys of all tenants' objects. */
export const objectRoot = '_tenants/'

/** The beginning of the keys of the running tenant's objects. Some disks do not distinguish upper and lower case. */
export function objectPrefix(): string {
  const tenant = currentTenant()
  if (tenant === undefined) return ''
  return `${objectRoot}${tenant.id.replace(/[A-Z]/g, (char) => `~${char.toLowerCase()}`)}/`
}

/** Whether application-wide work would reach a tenant's object by a key, which may come from a client. Upper case folds more characters than lower case. */
export const reachesTenants = (key: string): boolean =>
  isUsed && currentTenant() === undefined && `${key}/`.toUpperCase().startsWith(objectRoot.toUpperCase())

const kept = new WeakMap<object, Tenant>()

/** Notes the running tenant for work with an object that begins outside of its request: a websocket, an uploaded file. */
export function keepTenant(object: object): void {
  const tenant = currentTenant()
  if (tenant !== undefined) kept.set(object, tenant)
}

export const tenantKeptBy = (object: object): Tenant | undefined => (isUsed ? kept.get(object) : undefined)

/** Finds a tenant by its id, for the jobs of a server; set by the plugin `tenant`. */
export const tenantLoaders = new WeakMap<object, (id: string) => Tenant | Promise<Tenant>>()
