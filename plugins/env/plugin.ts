import { definePlugin } from '../../kernel/index.ts'
import { Env } from './env.ts'
import { envOptions } from './options.ts'
import type { EnvVariables } from './variables.ts'

/**
 * Checks the environment before anything else of the server starts, and provides it at `services.env`.
 *
 * In the object form it comes first, so that a missing variable fails the boot before a connection is made.
 *
 * @example
 * const server = new Server({ plugins: { env: { schema: (schema) => ({ GREETING: schema.string({ default: 'hello' }) }) } } })
 * server.get('/', () => server.services.get('env').get('GREETING'))
 */
export const env = definePlugin({
  name: 'env',
  options: envOptions,
  provide: (settings) => ({ env: new Env<EnvVariables>(settings) }),
  setup(ctx) {
    ctx.services.get('env').load()
  },
})
