import { isDeepStrictEqual } from 'node:util'
import { ArgumentsError, defineErrors, type Kernel } from '../../kernel/index.ts'
import { option } from '../shared/options/index.ts'
import { madeIn } from '../shared/values/memoize.ts'
import { type MockMethods, mockMethods } from './mock-server.ts'
import type { MockResponse } from './response.ts'

/** A tenant of `testTenants`: how it calls, and what is its own. */
export interface TestedTenant {
  /** The headers with which its requests are authenticated; with subdomains also `host`. */
  readonly headers: { readonly [name: string]: string }
  /**
   * Values of path parameters that belong to it, by the path of the route: `{ '/orders/:id': ['7'], '/teams/:team/members/:id': [{ team: 'x', id: '1' }] }`.
   * The others are learned: see `testTenants`.
   */
  readonly objects?: { readonly [path: string]: readonly (string | { readonly [param: string]: string })[] }
}

/** Options of `testTenants`. */
export interface TestTenantsOptions {
  /** JSON bodies by route, such as `'PUT /orders/:id'`. Each tenant first sends those of routes without parameters, such as `'POST /orders'`. */
  readonly bodies?: { readonly [route: string]: unknown }
  /** Routes that are not tested, such as `'GET /books/:id'` for data that all tenants share. */
  readonly skip?: readonly string[]
}

/** What `testTenants` has done. */
export interface TenantsReport {
  /** The requests of one tenant for what belongs to another. */
  readonly requests: number
  /** The routes with these requests. */
  readonly routes: readonly string[]
}

const { TenantLeakError } = defineErrors({
  TenantLeakError: (reached: readonly string[], untested: readonly string[]) =>
    [
      ...(reached.length > 0 ? ['one tenant reaches what belongs to another:', ...reached] : []),
      ...(untested.length > 0 ? ['these routes could not be tested:', ...untested] : []),
    ].join('\n- '),
})

const wrong = (takes: string) => ArgumentsError('testTenants', takes)

const bodies = option.value<{ readonly [route: string]: unknown }>(
  'bodies by route: { "PUT /orders/:id": … }',
  (given) => typeof given === 'object' && given !== null,
)

const optionsOf = option.shape({ bodies, skip: option.list(option.name()).default([]) }).typed<TestTenantsOptions>()

type Values = { readonly [param: string]: string }

/** Reads come before changes, which come before removals. */
const order = ['GET', 'HEAD', 'QUERY', 'POST', 'PUT', 'PATCH', 'DELETE']

/** Statuses of a request that has not reached the question whose object it is. */
const undecided: ReadonlySet<number> = new Set([400, 411, 413, 415, 422, 429])

/** Why a request has tested nothing. */
function whyUndecided(response: MockResponse): string | undefined {
  const status = response.statusCode()
  const { code } = (status === 403 ? response.body<{ code?: unknown } | null>() : undefined) ?? {}
  if (status === 401 || code === 'TenantRequiredError')
    return `is refused with ${status}: check the headers of the tenants`
  // It may have failed after a change, or before the question.
  if (status >= 500) return `fails with ${status}`
  return undecided.has(status) ? `is refused with ${status}: give bodies, or skip it` : undefined
}

/** The names of the parameters of a path; `*` for its rest. */
const paramsOf = (path: string) => [...path.matchAll(parameter)].map(([, name = '*']) => name)
const parameter = /:([\w$]+)\??|\*$/g

/** The path of an object. */
const urlOf = (path: string, values: Values) =>
  path.replace(parameter, (_, name?: string) =>
    name === undefined ? values['*']!.split('/').map(encodeURIComponent).join('/') : encodeURIComponent(values[name]!),
  )

/**
 * Sends the requests of each route with path parameters as one tenant, with what belongs to the other, and throws if one has got through.
 *
 * Which objects belong to a tenant is given in `objects`, or learned for paths such as `/orders/:id`: from the responses to the `bodies` for `/orders`, and
 * to `GET /orders` (the member `id` of an object or of those in a list, and `Location`). A request got through if it has succeeded, unless the owner's
 * `GET` of the same path shows that nothing has changed. Routes with `tenant: false` are left out.
 *
 * @throws (as a rejection) TenantLeakError with the list of requests, or with the routes that could not be tested: without objects, or whose
 * requests fail before they reach one.
 * @example
 * const report = await testTenants(
 *   server,
 *   [{ headers: { authorization: 'Bearer key-of-a' } }, { headers: { authorization: 'Bearer key-of-b' } }],
 *   { bodies: { 'POST /orders': { book: 7 }, 'PUT /orders/:id': { book: 8 } } },
 * )
 */
export async function testTenants(
  server: Kernel,
  tenants: readonly [TestedTenant, TestedTenant],
  options?: TestTenantsOptions,
): Promise<TenantsReport> {
  if (tenants?.length !== 2 || tenants.some((one) => typeof one?.headers !== 'object'))
    throw wrong('a server and two tenants, each with the headers of its requests')
  const { bodies = {}, skip } = optionsOf.parse(options, 'testTenants')
  await server.ready()
  const test = new TenantTest(server, bodies, skip)
  for (const tenant of tenants) await test.learn(tenant)
  for (const route of test.routes)
    for (const [i, owner] of tenants.entries()) await test.cross(route, owner, tenants[1 - i]!)
  return test.report()
}

interface TestedRoute {
  readonly name: string
  readonly method: string
  readonly path: string
}

class TenantTest {
  /** Those with parameters. */
  readonly routes: readonly TestedRoute[]
  readonly #all: readonly TestedRoute[]
  readonly #inject: MockMethods
  readonly #bodies: { readonly [route: string]: unknown }
  readonly #objects = new Map<TestedTenant, Map<string, Values[]>>()
  readonly #tested = new Set<string>()
  readonly #reached: string[] = []
  readonly #untested = new Map<string, string>()
  #requests = 0

  constructor(server: Kernel, bodies: { readonly [route: string]: unknown }, skip: readonly string[]) {
    this.#inject = mockMethods((request) => server.inject(request))
    this.#bodies = bodies
    const records = server.listing.routes.map(({ record }) => record)
    this.#all = records
      .filter(({ method, options }) => order.includes(method) && options.tenant !== false)
      .map(({ method, path }) => ({ method, path, name: `${method} ${path}` }))
    for (const name of [...Object.keys(bodies), ...skip])
      if (!this.#all.some((route) => route.name === name))
        throw wrong(`the names of routes with a tenant, such as "GET /orders/:id", not "${name}"`)
    this.routes = this.#all
      .filter(({ name, path }) => paramsOf(path).length > 0 && !skip.includes(name))
      .sort((a, b) => order.indexOf(a.method) - order.indexOf(b.method))
  }

  /** Finds out what belongs to a tenant. */
  async learn(tenant: TestedTenant): Promise<void> {
    const own = new Map<string, Values[]>()
    this.#objects.set(tenant, own)
    for (const [path, given] of Object.entries(tenant.objects ?? {})) {
      const [param] = paramsOf(path)
      if (param === undefined || !this.#all.some((route) => route.path === path))
        throw wrong(`objects by the paths of routes with parameters, not "${path}"`)
      const values = given.map((one) => (typeof one === 'string' ? { [param]: one } : one))
      own.set(path, values)
    }
    const simple = this.#all.filter(({ path }) => paramsOf(path).length === 0)
    const sending = [
      ...simple.filter(({ name }) => name in this.#bodies),
      ...simple.filter(({ method }) => method === 'GET'),
    ]
    for (const route of sending) {
      const of = this.routes.flatMap(({ path }) => {
        const param = path.startsWith(`${route.path}/:`)
          ? /^:([\w$]+)\??(?:\/[^:*]*)?$/.exec(path.slice(route.path.length + 1))
          : null
        return param === null || tenant.objects?.[path] !== undefined ? [] : [{ path, param: param[1]! }]
      })
      if (of.length === 0) continue
      const ids = idsIn(await this.#send(tenant, route.name, route.path))
      for (const { path, param } of of) {
        const known = madeIn(own, path, (): Values[] => [])
        for (const id of ids) if (!known.some((one) => one[param] === id)) known.push({ [param]: id })
      }
    }
  }

  /** Sends the requests of a route as another tenant than the owner. */
  async cross({ name, method, path }: TestedRoute, owner: TestedTenant, other: TestedTenant): Promise<void> {
    const objects = this.#objects.get(owner)!.get(path) ?? []
    if (objects.length === 0)
      this.#untested.set(name, 'no object is known: give objects, or bodies for the route that creates them')
    const isRead = this.#all.some((route) => route.name === `GET ${path}`)
    const read = (url: string) => this.#send(owner, `GET ${path}`, url)
    for (const values of objects) {
      const missing = paramsOf(path).find((param) => typeof values[param] !== 'string')
      if (missing !== undefined) {
        this.#untested.set(name, `an object has no text for the parameter "${missing}"`)
        continue
      }
      const url = urlOf(path, values)
      const before = isRead ? await read(url) : undefined
      if (before !== undefined && before.statusCode() >= 400)
        this.#untested.set(name, `its owner receives ${before.statusCode()} for GET ${url}`)
      const response = await this.#send(other, name, url)
      this.#requests++
      this.#tested.add(name)
      const status = response.statusCode()
      const why = whyUndecided(response)
      if (why !== undefined) this.#untested.set(name, `${method} ${url} ${why}`)
      if (status >= 400) continue
      // Both may have an object of this name, each its own.
      const isSafe = order.indexOf(method) < 3
      const isHarmless =
        before !== undefined &&
        (isSafe ? method !== 'HEAD' && !isSame(response, before) : isSame(await read(url), before))
      if (!isHarmless) this.#reached.push(`${name}: ${method} ${url} has succeeded with ${status}`)
    }
  }

  async #send(tenant: TestedTenant, name: string, url: string): Promise<MockResponse> {
    const [method = ''] = name.split(' ')
    const body = Object.hasOwn(this.#bodies, name) ? { body: this.#bodies[name] } : {}
    return this.#inject.request(method, url, { headers: tenant.headers, ...body })
  }

  report(): TenantsReport {
    if (this.#requests === 0 && this.#untested.size === 0)
      throw wrong('a server with routes that have path parameters and a tenant')
    const untested = [...this.#untested].map(([name, why]) => `${name}: ${why}`)
    if (this.#reached.length + untested.length > 0) throw TenantLeakError(this.#reached, untested)
    return { requests: this.#requests, routes: [...this.#tested] }
  }
}

const isSame = (a: MockResponse, b: MockResponse) =>
  a.statusCode() === b.statusCode() && isDeepStrictEqual(a.body(), b.body())

/** The ids of what a response is about: the member `id` of its body, of the objects in a list of it, and the end of `Location`. */
function idsIn(response: MockResponse): string[] {
  if (response.statusCode() >= 400) return []
  const body = response.body<unknown>()
  const members = typeof body === 'object' && body !== null ? Object.values(body) : []
  const list = [body, members, ...members].find(Array.isArray) as unknown[] | undefined
  const ids = [body, ...(list ?? [])].map((one) => (one as { id?: unknown } | null | undefined)?.id)
  const location = /([^/?#]+)(?:[?#].*)?$/.exec(String(response.headers().location ?? ''))?.[1]
  return [...ids, location && decodeURIComponent(location)]
    .filter((id) => typeof id === 'string' || typeof id === 'number')
    .map(String)
}
