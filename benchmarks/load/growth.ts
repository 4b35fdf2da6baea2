import type { RuntimeKind } from '../support/runtime.ts'
import type { Target } from './probe.ts'
import type { ServerFile, ServerFiles } from './servers.ts'

const spaced = (size: number) => size.toLocaleString('en').replace(/,/g, size < 10_000 ? '' : ' ')

/** At most so many different paths are requested: they are an environment variable of the load generator. */
const maxTargets = 1000

/** The same routes as `manyRoutes` in `servers/routes.mjs`, spread evenly over all of them. */
function targetsOf(routes: number): readonly [Target, ...Target[]] {
  const step = Math.max(1, Math.floor(routes / maxTargets))
  // An odd step, so that routes with and without parameters take turns.
  const odd = step % 2 === 0 ? step + 1 : step
  const [first, ...others] = Array.from({ length: Math.ceil(routes / odd) }, (_, n): Target => {
    const i = n * odd
    return i % 2 === 0
      ? { path: `/pages/section-${i}/index`, answer: { route: i } }
      : { path: `/api/kind-${i}/a${i}/parts/b${i}`, answer: { route: i, a: `a${i}`, b: `b${i}` } }
  })
  return [first!, ...others]
}

/** The servers that are compared while they grow, by the kind of runtime. */
const growing = (kind: RuntimeKind): Readonly<Record<string, string>> => ({
  framework: 'servers/framework-growth.mjs',
  ...(kind === 'node' ? { fastify: 'peers/fastify-growth.mjs', hono: 'peers/hono-growth.mjs' } : {}),
})

/** Each server once for each size: `framework, 1000 routes`. */
const sized =
  (sizes: readonly number[], titleOf: (size: number) => string, more: (size: number) => Partial<ServerFile>) =>
  (kind: RuntimeKind): ServerFiles =>
    Object.fromEntries(
      Object.entries(growing(kind)).flatMap(([server, file]) =>
        sizes.map((size) => [`${server}, ${titleOf(size)}`, { file, scenario: titleOf(size), ...more(size) }]),
      ),
    )

const scenarioOf = (what: string) => (size: number) => ({ scenario: `${what} ${size}` })

export const routesServers = sized(
  [10, 1000, 10_000],
  (size) => `${spaced(size)} routes`,
  (size) => ({ ...scenarioOf('routes')(size), targets: targetsOf(size) }),
)
export const pluginsServers = sized(
  [1, 10, 100],
  (size) => `${size} plugin${size === 1 ? '' : 's'}`,
  scenarioOf('plugins'),
)
export const middlewaresServers = sized(
  [1, 10, 100],
  (size) => `${size} middleware${size === 1 ? '' : 's'}`,
  scenarioOf('middlewares'),
)
export const connectionsServers = sized(
  [10, 1000, 10_000],
  (size) => `${spaced(size)} connections`,
  (size) => ({ ...scenarioOf('plugins')(1), idle: size - 10 }),
)
