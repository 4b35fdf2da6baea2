import { defineErrors, definePlugin } from '../../kernel/index.ts'
import { isProduction, nodeEnv } from '../shared/environment/node-env.ts'
import { refuseSeveral } from '../shared/environment/several-workers.ts'
import { type InspectorSettings, inspectorOptions } from './options.ts'

const { InspectorProductionError, InspectorScopeError } = defineErrors({
  InspectorProductionError: (env: string | undefined) =>
    `the inspector shows requests and their contents, and NODE_ENV is "${env}". Leave the plugin out there: plugins: { inspector: process.env.NODE_ENV === "development" }`,
  InspectorScopeError: (scope: string) =>
    `the inspector is registered in the scope "${scope}", where it would see and serve only that scope. Register it on the server: plugins: { inspector: true }`,
})

/**
 * Shows what the server does, during development: a page with requests and everything that they caused. `framework serve` enables it.
 *
 * It responds only to requests from this machine that have the token of the process. With `NODE_ENV=production`, the boot fails.
 *
 * @example
 * new Server({ plugins: { inspector: process.env.NODE_ENV !== 'production' } })
 */
export const inspector = definePlugin({
  name: 'inspector',
  access: {
    ways: ({ path }: InspectorSettings) => [
      { method: 'ANY', path: `${path}/*`, conditions: { 'this machine': [], token: [] }, after: 'before' },
    ],
  },
  options: inspectorOptions,
  async setup(ctx, settings) {
    if (isProduction()) throw InspectorProductionError(nodeEnv())
    if (ctx.scope !== '') throw InspectorScopeError(ctx.scope)
    refuseSeveral(ctx.server.worker, 'the inspector keeps what it shows', 'Leave the inspector out')
    // Loaded here, so that only servers with the inspector load its modules.
    const { inspect } = await import('./inspect.ts')
    inspect(ctx, settings)
  },
})
