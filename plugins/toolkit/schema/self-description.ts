import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import type { StandardSchema } from './standard.ts'

/** Whether a schema describes what is given to it, or what it makes of that: defaults and transforms differ. */
export type Direction = 'input' | 'output'

/** Standard JSON Schema: what a validator says of itself. Zod has it since 4.2, ArkType since 2.1.28. */
interface SelfDescribing {
  readonly jsonSchema?: { readonly [side in Direction]?: (options: object) => unknown }
}

type Json = Record<string, unknown>

interface ZodSchema {
  readonly _zod: {
    readonly def: { readonly type: string; readonly catchall?: unknown }
    readonly version: Version
  }
  readonly meta?: () => object | undefined
}

/** `zod/v4/core`, as far as it is needed here. */
interface ZodCore {
  readonly version: Version
  readonly globalRegistry: { get(schema: unknown): object | undefined }
  toJSONSchema(schema: unknown, options: object): Json
}

const target = 'draft-2020-12'
const dateTime = { type: 'string', format: 'date-time' }

/** What Zod says differs from what JSON carries in these points. */
function correct({ zodSchema, jsonSchema }: { readonly zodSchema: ZodSchema; readonly jsonSchema: Json }): void {
  const { type, catchall } = zodSchema._zod.def
  if (type === 'date') Object.assign(jsonSchema, dateTime)
  if (type === 'bigint') Object.assign(jsonSchema, { type: 'integer', format: 'int64' })
  // Of an object that strips what it does not know: so that one schema is one component, for requests and answers alike.
  if (type === 'object' && catchall === undefined) delete jsonSchema.additionalProperties
}

/** What each vendor is asked beside the target. */
export type VendorOptions = { readonly [vendor: string]: object }

const zodOptions = { unrepresentable: 'any', override: correct }

/** So that one member without a form in JSON does not take the whole schema with it. Each vendor reads its own options only. */
const defaults: VendorOptions = {
  zod: zodOptions,
  arktype: {
    fallback: ({ code, base }: { code: string; base: unknown }) => (code === 'date' ? dateTime : base),
  },
  valibot: {
    errorMode: 'ignore',
    overrideSchema: ({ valibotSchema }: { valibotSchema: { type: string } }) =>
      valibotSchema.type === 'date' ? dateTime : undefined,
  },
}

/** What a vendor whose schemas say nothing needs for it. */
const remedies: { readonly [vendor: string]: string } = {
  arktype: ': ArkType has it from 2.1.28 on',
  valibot: ': wrap it in toStandardJsonSchema() of the package @valibot/to-json-schema, from 1.5 on',
  zod: ': Zod has it from 4.2 on',
}

/**
 * The JSON Schema of a Standard Schema, in its own words; of a Zod of 4.0 or 4.1 in those of the package.
 *
 * @throws an error that says why there is none, and what helps.
 */
export function selfDescription(
  schema: StandardSchema,
  direction: Direction,
  options: VendorOptions = defaults,
): unknown {
  const { vendor, jsonSchema } = schema['~standard'] as StandardSchema['~standard'] & SelfDescribing
  if (jsonSchema?.[direction] !== undefined) {
    const libraryOptions = Object.hasOwn(options, vendor) ? options[vendor] : undefined
    return jsonSchema[direction]({ target, ...(libraryOptions && { libraryOptions }) })
  }
  if (isZod4(schema)) return byZodItself(schema, direction)
  const remedy = Object.hasOwn(remedies, vendor) ? remedies[vendor] : ''
  throw new TypeError(`a schema of "${vendor}" without Standard JSON Schema${remedy}`)
}

const isZod4 = (schema: unknown): schema is ZodSchema =>
  typeof (schema as Partial<ZodSchema>)._zod?.version?.minor === 'number'

// By `require` and not `import()`: a route is described at once. Only where such a schema is met, so by its name.
const coreName = 'zod/v4/core'

type Version = { readonly major: number; readonly minor: number; readonly patch: number }

/** By minor version: a newer package asks the schemas themselves, in vain. */
const cores = new Map<number, ZodCore>()

/** The package beside the framework, else the application's own where the two are kept apart. */
function coreFor(version: Version): ZodCore {
  let why = 'which cannot be found here'
  for (const place of [import.meta.url, pathToFileURL(`${process.cwd()}/`).href]) {
    if (cores.has(version.minor)) break
    try {
      const load = createRequire(place)
      const core = load(coreName) as ZodCore
      why = `and the one found here is ${textOf(core.version)}`
      cores.set(core.version.minor, core)
    } catch {
      // Not there.
    }
  }
  const core = cores.get(version.minor)
  if (core !== undefined) return core
  throw new TypeError(
    `a schema of Zod ${textOf(version)} is described by the package "zod" of that version, ${why}; from 4.2 on Zod schemas describe themselves`,
  )
}

/**
 * By the function of the package, since schemas of 4.0 and 4.1 have no method for it. It may be another instance than
 * the application's own (`require` here, `import` there), so it is told what each schema is called.
 */
function byZodItself(schema: ZodSchema, direction: Direction): unknown {
  const { globalRegistry, toJSONSchema } = coreFor(schema._zod.version)
  const metadata = { get: (one: ZodSchema) => one.meta?.() ?? globalRegistry.get(one) }
  const { id, ...described } = toJSONSchema(schema, { io: direction, target, metadata, ...zodOptions })
  return typeof id === 'string' ? { $id: id, ...described } : described
}

const textOf = ({ major, minor, patch }: Version) => `${major}.${minor}.${patch}`
