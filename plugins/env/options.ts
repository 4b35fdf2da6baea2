import { isOptions, OptionError } from '../../kernel/index.ts'
import { usualFile } from '../shared/environment/process.ts'
import { option, type SettingsOf } from '../shared/options/index.ts'
import { checkTypes, schema } from './schema.ts'
import type { EnvSchema, EnvTypes } from './types.ts'

/** Where the variables of `createEnvSchema` come from. */
export interface EnvFileOptions {
  /**
   * The file, absolute or relative to the working directory of the process, in dotenv format or as a JSON object. A file named here
   * must exist; the default may be missing. `false` reads no file. Default `'.env'`.
   */
  file?: string | false
  /** Replaces the environment of the process, for tests. */
  environment?: { readonly [name: string]: string | undefined }
}

/** Options of the env plugin. */
export interface EnvOptions extends EnvFileOptions {
  /** The types of the variables, as for `createEnvSchema`; without it, every variable is readable as it is. */
  schema?: (schema: EnvSchema) => EnvTypes
}

const schemaTakes = 'a function (schema) => ({ NAME: schema.string() })'

/** The types that the function makes with the builders; errors of the function and of the builders have the path of the option. */
const types = option.fn<(schema: EnvSchema) => EnvTypes>(schemaTakes).into((build, place): EnvTypes => {
  try {
    const made: unknown = build(schema)
    checkTypes(place.path, made)
    return made
  } catch (error) {
    if ((error as { code?: unknown } | null)?.code !== OptionError.code) throw error
    place.problem((error as Error).message)
    return {}
  }
})

// An address is not a path, and its password would appear in the error about a missing file.
const path = option.name(/^(?!.*:\/\/)[^\0\r\n]+$/, 'a path, or false')

export const envOptions = option
  .shape({
    schema: types,
    file: option.either(option.off(), path).says('a path, or false'),
    environment: option.value<NonNullable<EnvFileOptions['environment']>>('an object of strings', isOptions).secret(),
  })
  .into(({ schema: types = {}, file, environment }) => ({
    types,
    file: file ?? usualFile,
    /** Whether a missing file is an error. */
    fileIsNamed: file !== undefined,
    environment,
  }))
  .typed<EnvOptions>()

export type EnvSettings = SettingsOf<typeof envOptions>
