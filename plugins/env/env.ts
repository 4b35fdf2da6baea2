import { OptionError } from '../../kernel/index.ts'
import { type Found, filesOf, readFiles } from '../shared/environment/files.ts'
import {
  fileOf,
  modeOf,
  readProcessFiles,
  refuseEnvironment,
  textOf,
  usualFile,
} from '../shared/environment/process.ts'
import { joinedOptions } from '../shared/options/two-arguments.ts'
import { type EnvFileOptions, type EnvSettings, envOptions } from './options.ts'
import { readValue } from './schema.ts'
import type { EnvSchema, EnvTypes, EnvValues } from './types.ts'

/** The first branch is never taken, but `Name` is inferred from it. Without a schema, every name is allowed. */
type CheckedName<Name extends string, Known extends string> = [Name] extends [never]
  ? Name
  : [Known] extends [never]
    ? Name
    : string extends Name
      ? Name
      : Known

type ValueOf<Values, Name> = Name extends keyof Values ? Values[Name] : unknown

/** The variables, read and checked. */
export class Env<Values extends object = {}> {
  readonly #settings: EnvSettings
  #found: ReadonlyMap<string, Found> = new Map()
  #values: ReadonlyMap<string, unknown> | undefined

  /** @internal */
  constructor(settings: EnvSettings) {
    this.#settings = settings
  }

  /**
   * Returns the value of a variable: converted to its type if it is in the schema, otherwise the string in the environment or the value
   * in the file. A name outside the schema compiles only if its type is `string`.
   *
   * @example
   * const env = createEnvSchema((schema) => ({ PORT: schema.number({ default: 3000 }) }))
   * const port: number = env.get('PORT')
   * const editor = env.get('EDITOR' as string) // of type unknown
   */
  get<const Name extends string>(name: CheckedName<Name, keyof Values & string>): ValueOf<Values, Name>
  get(name: string): unknown {
    this.load()
    if (Object.hasOwn(this.#settings.types, name)) return this.#values!.get(name)
    return this.#sourceOf(name, this.#found, this.#fromProcess(name))?.value
  }

  /** Reads and checks all variables the first time that it is called. @internal */
  load(): void {
    if (this.#values !== undefined) return
    const problems: string[] = []
    const { found, read } = this.#readFiles(problems)
    const values = new Map<string, unknown>()
    for (const [name, type] of Object.entries(this.#settings.types)) {
      const before = problems.length
      const own = this.#tryProcess(name, problems)
      if (problems.length > before) continue
      const { value, file: source } = this.#sourceOf(name, found, own) ?? {}
      const report = (path: string, problem: string) =>
        problems.push(`${path}${source === undefined ? '' : ` (of ${source})`} ${problem}`)
      values.set(name, readValue(type, value, name, report, false))
    }
    if (problems.length > 0) refuseEnvironment(problems, read)
    this.#found = found
    this.#values = values
  }

  /** The default files become part of the environment of the process; others belong to this schema alone. */
  #readFiles(problems: string[]) {
    const { file, fileIsNamed, environment } = this.#settings
    if (file === false) return readFiles([], false, () => {})
    const mode = modeOf(
      (name) => this.#tryProcess(name, problems),
      (problem) => problems.push(problem),
    )
    const report = (path: string, problem: string) => problems.push(`${path} ${problem}`)
    return file === usualFile && environment === undefined
      ? readProcessFiles(mode, fileIsNamed, report)
      : readFiles(filesOf(file, mode), fileIsNamed, report)
  }

  /** Returns where a variable comes from: the process, unless a file sets it. */
  #sourceOf(name: string, found: ReadonlyMap<string, Found>, own: string | undefined): Partial<Found> | undefined {
    const inFile = found.get(name)
    if (own === undefined) return inFile
    const file = this.#settings.environment === undefined ? fileOf(name) : undefined
    if (inFile !== undefined && (file !== undefined || textOf(inFile.value) === own)) return inFile
    return { value: own, ...(file !== undefined && { file }) }
  }

  #tryProcess(name: string, problems: string[]): string | undefined {
    try {
      return this.#fromProcess(name)
    } catch {
      problems.push(`${name} may not be read: run Deno with --allow-env=${name}`)
      return undefined
    }
  }

  /** Reads variables one at a time, never all: Deno may allow a process some variables but not others. */
  #fromProcess(name: string): string | undefined {
    const value: unknown = (this.#settings.environment ?? process.env)[name]
    // A member of Object.prototype is not a variable.
    return typeof value === 'string' ? value : undefined
  }
}

/**
 * Reads environment variables with the types of a schema: from `.env` and its siblings, in dotenv format or as JSON, and
 * from the environment of the process, which takes precedence.
 *
 * All problems are reported together, by name and without any value. The variables of `.env` and its siblings become part of
 * `process.env`, as with `framework/env`; a file with another name belongs to the schema alone. Variables without a type can be
 * read as well, as they are.
 *
 * @throws EnvError, whose `problems` lists them; OptionError for invalid options or an invalid schema.
 * @example
 * const env = createEnvSchema((schema) => ({
 *   PORT: schema.number({ default: 3000 }),
 *   LOG_LEVEL: schema.enum(['debug', 'info', 'error'] as const, { optional: true }),
 * }))
 * const port = env.get('PORT')
 */
export function createEnvSchema<const Types extends EnvTypes = {}>(
  build?: (schema: EnvSchema) => Types,
  options?: EnvFileOptions,
): Env<EnvValues<Types>> {
  if ('schema' in Object(options)) throw OptionError('env.schema', options, 'the function as the first argument')
  const env = new Env<EnvValues<Types>>(envOptions.parse(joinedOptions('schema', build, options), 'env'))
  env.load()
  return env
}
