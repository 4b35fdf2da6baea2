import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

/** Whether a schema or a type is read as the input of a validator or as its output: defaults and transforms differ. */
export type Direction = 'input' | 'output'

/** A Standard Schema, which may have Standard JSON Schema, its description of itself: Zod since 4.2, ArkType since 2.1.28. */
interface SelfDescribing {
  readonly '~standard': {
    readonly vendor: string
    readonly jsonSchema?: { readonly [side in Direction]?: (options: object) => unknown }
  }
}

type Json = Record<string, unknown>

interface ZodSchema {
  readonly _zod: {
    readonly def: { readonly type: string; readonly catchall?: unknown }
    readonly version: Version
  }
  readonly meta?: () => object | undefined
}

/** The part of `zod/v4/core` that is used here. */
interface ZodCore {
  readonly version: Version
  readonly globalRegistry: { get(schema: unknown): object | undefined }
  toJSONSchema(schema: unknown, options: object): Json
}

const target = 'draft-2020-12'
const dateTime = { type: 'string', format: 'date-time' }

/** Corrects Zod's description where it differs from JSON. */
function correct({ zodSchema, jsonSchema }: { readonly zodSchema: ZodSchema; readonly jsonSchema: Json }): void {
  const { type, catchall } = zodSchema._zod.def
  if (type === 'date') Object.assign(jsonSchema, dateTime)
  if (type === 'bigint') Object.assign(jsonSchema, { type: 'integer', format: 'int64' })
  // For an object that strips unknown members: so that one schema is one component, for requests and responses alike.
  if (type === 'object' && catchall === undefined) delete jsonSchema.additionalProperties
}

/** The options for each vendor, in addition to the target. */
type VendorOptions = { readonly [vendor: string]: object }

const zodOptions = { unrepresentable: 'any', override: correct }

/** Prevents one member without a form in JSON from making the whole schema fail. Each vendor reads only its own options. */
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

/** The remedy for a vendor whose schemas have no description. */
const remedies: { readonly [vendor: string]: string } = {
  arktype: ': ArkType has it from 2.1.28 on',
  valibot: ': wrap it in toStandardJsonSchema() of the package @valibot/to-json-schema, from 1.5 on',
  zod: ': Zod has it from 4.2 on',
}

/**
 * The JSON Schema of a Standard Schema, from its own method; for Zod 4.0 and 4.1, from the package.
 *
 * @throws an error with the reason why there is none, and the remedy.
 */
export function selfDescription(
  schema: SelfDescribing,
  direction: Direction,
  options: VendorOptions = defaults,
): unknown {
  const { vendor, jsonSchema } = schema['~standard']
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

// Loaded with `require` and not `import()`, since a route is described synchronously; by its name, since only such schemas need it.
const coreName = 'zod/v4/core'

type Version = { readonly major: number; readonly minor: number; readonly patch: number }

/** The cores by minor version: a newer package calls methods of the schemas themselves, which are missing. */
const cores = new Map<number, ZodCore>()

/** The package next to the framework, otherwise the application's own if the two are separate. */
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
      // It does not exist.
    }
  }
  const core = cores.get(version.minor)
  if (core !== undefined) return core
  throw new TypeError(
    `a schema of Zod ${textOf(version)} is described by the package "zod" of that version, ${why}; from 4.2 on Zod schemas describe themselves`,
  )
}

/**
 * Uses the function of the package, since schemas of 4.0 and 4.1 have no method for it. The package may be a different instance from
 * the application's own (`require` here, `import` there), so it receives the name of each schema.
 */
function byZodItself(schema: ZodSchema, direction: Direction): unknown {
  const { globalRegistry, toJSONSchema } = coreFor(schema._zod.version)
  const metadata = { get: (one: ZodSchema) => one.meta?.() ?? globalRegistry.get(one) }
  const { id, ...described } = toJSONSchema(schema, { io: direction, target, metadata, ...zodOptions })
  return typeof id === 'string' ? { $id: id, ...described } : described
}

const textOf = ({ major, minor, patch }: Version) => `${major}.${minor}.${patch}`
