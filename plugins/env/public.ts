// The names that `framework` has as well.
import type { Env } from './env.ts'
import type { EnvVariables } from './types.ts'

export { createEnvSchema, type Env } from './env.ts'
export type { EnvFileOptions, EnvOptions } from './options.ts'
export type * from './types.ts'

declare module '../../kernel/plugin/services.ts' {
  interface Services {
    /** The variables of the schema, read with `get`; added by the plugin `env`. */
    env: Env<EnvVariables>
  }
}
