import { type Context, definePlugin, type Method, type Middleware } from 'framework'
import { expect, test } from 'vitest'
import { Chance } from '../../../support/chance.ts'
import { makeKernel } from '../../../support/kernel.ts'
import { isLong } from '../../../support/long.ts'

const methods: readonly Method[] = ['GET', 'HEAD', 'POST', 'DELETE']
const paths = ['/', '/a', '/a/:id', '/a/b', '/b/*', '/c']
const asked = [
  '/',
  '/a',
  '/a/b',
  '/a/5',
  '/a/5/',
  '/b/x/y',
  '/c',
  '/d',
  '/a/b/c',
  '/p',
  '/p/a',
  '/p/q/a/7',
  '/p/c',
  '/%zz',
]

/** A tree of scopes, prefixes, guards, fallbacks and routes; everything that runs puts its name into the trace. */
function randomTree(chance: Chance, trace: string[]) {
  const { kernel } = makeKernel()
  let count = 0
  const named = (kind: string): Middleware => {
    const name = `${kind}${++count}`
    const run: Middleware = (_req, _res, next) => {
      trace.push(name)
      return next()
    }
    return Object.defineProperty(run, 'name', { value: name })
  }
  const ended = (kind: string) => {
    const name = `${kind}${++count}`
    return Object.defineProperty(() => void trace.push(name), 'name', { value: name })
  }
  const plugin = (depth: number, scoped: boolean) =>
    definePlugin({
      name: `plugin${++count}`,
      scoped,
      setup(ctx) {
        fill(ctx, depth)
        if (chance.is(0.3)) ctx.onRoute((route) => route.add('guard', named('guard')))
        if (chance.is(0.4)) ctx.fallback(chance.pick(['/', '/a', '/p', '/q']), ended('fallback'))
      },
    })()
  const fill = (ctx: Context | typeof kernel, depth: number) => {
    for (let i = chance.below(4); i > 0; i--) {
      const kind = chance.below(4)
      if (kind === 0) ctx.register(named('use'))
      else if (kind === 1 && depth > 0) ctx.register(plugin(depth - 1, chance.is(0.5)))
      else if (kind === 2 && depth > 0) {
        ctx.register(plugin(depth - 1, false), { prefix: chance.pick(['/p', '/q', '/a']) })
      } else addRoute(ctx)
    }
  }
  const addRoute = (ctx: Context | typeof kernel) => {
    const handler = ended('handler')
    const options = chance.is(0.4) ? { middlewares: [named('own')] } : {}
    const verb = chance.is(0.2) ? 'any' : (chance.pick(methods).toLowerCase() as 'post')
    try {
      if (chance.is(0.3)) ctx.group('/a', [named('group')], (routes) => routes[verb]('/b', options, handler))
      else ctx[verb](chance.pick(paths), options, handler)
    } catch (error) {
      // The same route twice.
      expect((error as { code?: string }).code).toBe('DuplicateRouteError')
    }
  }
  fill(kernel, 3)
  addRoute(kernel)
  return kernel
}

test('for any tree explain lists the steps that a request takes', async () => {
  const chance = new Chance(20_26)
  const seen = { route: 0, head: 0, fallback: 0, miss: 0, refused: 0 }
  const [found, expected]: [unknown[], unknown[]] = [[], []]
  for (let trees = 0; trees < (isLong ? 300 : 75); ) {
    const trace: string[] = []
    const kernel = randomTree(chance, trace)
    try {
      await kernel.ready()
    } catch (error) {
      // Two plugins have registered the same route, or one with a prefix has none.
      expect((error as { code?: string }).code).toMatch(/DuplicateRouteError|PluginSetupError|PluginPrefixError/)
      continue
    }
    trees++
    for (const url of asked) {
      for (const method of methods) {
        trace.length = 0
        const { status } = await kernel.inject({ url, method })
        const { route, steps } = kernel.explain(method, url)
        const request = `${trees}. ${method} ${url} ${status}`
        found.push([request, route !== undefined, ...trace])
        expected.push([request, status < 400, ...steps.map(({ name }) => name)])
        if (status === 400) seen.refused++
        else if (steps.at(-1)?.slot === 'fallback') seen.fallback++
        else if (route === undefined) seen.miss++
        else if (method === 'HEAD' && route.startsWith('GET')) seen.head++
        else seen.route++
      }
    }
    await kernel.close()
  }
  expect(found).toEqual(expected)
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(isLong ? 100 : 25)
})
