import { checkOptions, OptionError, quoted } from '../../kernel/index.ts'
import type { EnvSchema, EnvType } from './types.ts'

/** What a schema function returns. */
export interface EnvTypes {
  readonly [name: string]: EnvType<unknown>
}

/** Where the variables of `createEnvSchema` come from. */
export interface EnvFileOptions {
  /**
   * The file, relative to the folder of the process or absolute, in the form of dotenv or as a JSON object. A file that is
   * named must be there; the default may be missing. `false` reads none. Default `'.env'`.
   */
  file?: string | false
  /** In place of the environment of the process, for tests. */
  environment?: { readonly [name: string]: string | undefined }
}

/** Options of the env plugin. */
export interface EnvOptions extends EnvFileOptions {
  /** As for `createEnvSchema`; without it every variable is readable as it is. */
  schema?: (schema: EnvSchema) => EnvTypes
}

export interface EnvSettings {
  readonly file: string | false
  /** Whether its absence is a mistake. */
  readonly fileIsNamed: boolean
  readonly environment: { readonly [name: string]: string | undefined }
  readonly schema: ((schema: EnvSchema) => EnvTypes) | undefined
}

/** The options with every default in place; a wrong one throws. */
export function settingsOf(options: EnvOptions): EnvSettings {
  checkOptions('env', options, ['schema', 'file', 'environment'])
  const { schema, file = '.env', environment = process.env } = options
  if (schema !== undefined && typeof schema !== 'function') {
    throw OptionError('env.schema', schema, 'a function (schema) => ({ NAME: schema.string() })')
  }
  // An address is no path, and would stand with its password in the error that no such file is there.
  if (file !== false && (typeof file !== 'string' || file === '' || /:\/\/|[\0\r\n]/.test(file))) {
    throw OptionError('env.file', quoted(file), 'a path, or false')
  }
  if (typeof environment !== 'object' || environment === null) {
    throw OptionError('env.environment', environment, 'an object of texts')
  }
  return { file, fileIsNamed: options.file !== undefined, environment, schema }
}
