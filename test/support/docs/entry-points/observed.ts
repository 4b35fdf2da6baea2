import { definePlugin, type Kernel } from '../../../../kernel/index.ts'

/** The server of a page's block. */
export interface Observed {
  readonly server: Kernel
  /** `GET /users/:id`, of every route that it serves, in order. */
  readonly routes: { readonly method: string; readonly path: string }[]
}

const observed: Observed[] = []

/** Notes a server, and its routes when it boots. */
export function observe(server: Kernel): void {
  const routes: Observed['routes'] = []
  const observer = definePlugin({
    name: 'observer-of-examples',
    setup: (ctx) => ctx.onRoute(({ method, path }) => void routes.push({ method, path })),
  })
  server.register(observer())
  observed.push({ server, routes })
}

/** The servers since the last call. */
export const takeObserved = (): Observed[] => observed.splice(0)

interface Test {
  readonly name: string
  readonly run: () => unknown
}

const tests: Test[] = []

/** Replaces vitest's `test` in blocks, which already run inside a test. */
export function test(name: string, run: () => unknown): void {
  tests.push({ name, run })
}

export const takeTests = (): Test[] => tests.splice(0)
