import { createRequire } from 'node:module'
import { flattened, targetOf } from '../shared/schema/flat.ts'
import { isObject, type Node } from '../shared/schema/keywords.ts'
import { safely } from '../shared/values/safely.ts'
import { combining, typesOf } from './checked-copy.ts'
import { isOldV8, scalarTypes } from './writer-helpers.ts'

/** Turns the picked members of a response into JSON; `undefined` if they have no form in JSON. */
export type Write = (picked: unknown) => string | undefined

type WriterName = 'JSON.stringify' | 'fast-json-stringify'

/**
 * The faster writer of this runtime.
 *
 * Measured with picking, for a small object, 1 kB and 1000 items, in µs, `JSON.stringify` against fast-json-stringify:
 * Node.js 20 0.55, 6.8, 537 against 0.30, 5.4, 585; 22 0.33, 3.6, 357 against 0.27, 5.7, 563; 24 0.36, 4.1, 368 against
 * 0.28, 4.9, 482; 26 0.19, 2.2, 182 against 0.26, 4.2, 417.
 */
export const writerName: WriterName = isOldV8 ? 'fast-json-stringify' : 'JSON.stringify'

/** The number of items from which `JSON.stringify` writes lists faster even on Node.js 20. */
const longList = 100

// It takes 43 ms to load, so it is loaded only where it is used.
const require = createRequire(import.meta.url)

/** The function that writes responses of a JSON Schema, always as the same text; `picked` is the result of the schema's shape. */
export function writerOf(schema: object, name: WriterName = writerName): Write {
  const written = name === 'JSON.stringify' ? undefined : writtenSchemaOf(schema)
  if (written === undefined) return JSON.stringify
  // It throws, for example, for a schema that is nested more deeply than fast-json-stringify supports.
  const write = safely((): Write => {
    const build = require('fast-json-stringify') as typeof import('fast-json-stringify').default
    return build(written as Parameters<typeof build>[0])
  })
  if (write === undefined || written.type !== 'array') return write ?? JSON.stringify
  return (picked) => (Array.isArray(picked) && picked.length < longList ? write(picked) : JSON.stringify(picked))
}

/** A schema that has only types, for picked members: everything else has already been checked. */
interface WrittenSchema {
  readonly type?: string
  readonly nullable?: true
  readonly properties?: { readonly [name: string]: WrittenSchema }
  readonly required?: readonly string[]
  readonly items?: WrittenSchema
}

/** For a part that `JSON.stringify` writes: it is newly created, so that it always has a form in JSON. */
const anything: WrittenSchema = {}

/** Whether a name is safe in generated code, and is not one that every object inherits. */
const isTame = (name: string) => /^[\w-]+$/.test(name) && !(name in Object.prototype)

/** The maximum number of nodes: with more, generating the code costs more time than it saves. */
const maxNodes = 500

/** Whether the result is a new array, or a new object without `toJSON`. */
function isSurelyWritten(node: Node): boolean {
  if (!typesOf(node).includes('object')) return true
  if (node.additionalProperties || node.patternProperties !== undefined) return false
  return !(isObject(node.properties) && 'toJSON' in node.properties)
}

/**
 * The schema for fast-json-stringify: the same members in the same order, so that its text equals that
 * of `JSON.stringify`. Without rules, it neither loads a validator nor converts types, and without
 * unusual names, only plain words of the schema get into the code that it generates.
 *
 * `undefined` for a schema for which there is no gain.
 */
function writtenSchemaOf(schema: object): WrittenSchema | undefined {
  const root = flattened(schema).schema
  const open = new Set<Node>()
  let nodes = 0

  /** Derives the schema; `undefined` where a value may have no form in JSON, such as a function: its object must be written as a whole. */
  function derive(node: unknown): WrittenSchema | undefined {
    let one = node
    for (let hops = 0; isObject(one) && one.$ref !== undefined; hops++) {
      if (hops === 100) return undefined
      if (combining.some((keyword) => keyword in (one as Node)) || typesOf(one).length > 0) return undefined
      one = targetOf(one.$ref, root)
    }
    if (!isObject(one)) return undefined
    const types = typesOf(one)
    const type = types.find((name) => name !== 'null') ?? 'null'
    const nullable = types.length > 1 && types.includes('null')
    if (types.length !== (nullable ? 2 : 1)) return undefined
    const more = nullable ? ({ nullable } as const) : {}
    if (type === 'null' || scalarTypes.has(type)) return { type, ...more }
    if (combining.some((keyword) => keyword in one)) return undefined
    if (open.has(one) || ++nodes > maxNodes) return isSurelyWritten(one) ? anything : undefined
    open.add(one)
    const inside = type === 'array' ? arrayOf(one) : objectOf(one)
    open.delete(one)
    return inside === undefined || inside === anything ? inside : { type, ...more, ...inside }
  }

  function arrayOf({ items, prefixItems }: Node): WrittenSchema {
    const item = prefixItems === undefined && isObject(items) ? derive(items) : undefined
    return item === undefined || item === anything ? anything : { items: item }
  }

  function objectOf(node: Node): WrittenSchema | undefined {
    if (!isSurelyWritten(node)) return undefined
    const given = isObject(node.properties) ? node.properties : {}
    const names = Object.keys(given)
    if (names.length === 0) return anything
    const properties: Record<string, WrittenSchema> = {}
    for (const name of names) {
      const one = isTame(name) ? derive(given[name]) : undefined
      if (one === undefined) return anything
      properties[name] = one
    }
    // fast-json-stringify writes required members first, which is faster: they may be marked only where that does not change the order.
    const required = new Set(Array.isArray(node.required) ? node.required : [])
    const end = names.findIndex((name) => !required.has(name))
    return { properties, required: end === -1 ? names : names.slice(0, end) }
  }

  const derived = derive(root)
  return derived === anything ? undefined : derived
}
