import { definePlugin } from '../../kernel/index.ts'
import { Env } from './env.ts'
import { envOptions } from './options.ts'
import type { EnvVariables } from './types.ts'

/**
 * Checks the environment before anything else in the server starts, and provides it as `services.env`.
 *
 * In the object form of `plugins` it comes first, so that a missing variable makes the boot fail before any connection is opened.
 *
 * @example
 * const server = new Server({ plugins: { env: { schema: (schema) => ({ GREETING: schema.string({ default: 'hello' }) }) } } })
 * server.get('/', () => server.services.get('env').get('GREETING'))
 */
export const env = definePlugin({
  name: 'env',
  access: false,
  options: envOptions,
  provide: (settings) => ({ env: new Env<EnvVariables>(settings) }),
  setup(ctx) {
    ctx.services.get('env').load()
  },
})
