import { isObject } from '../../values/json.ts'
import { flattened, targetOf } from '../flat.ts'
import { jsonTypes, schemasWithin } from '../keywords.ts'
import { anything, type Lazy, text, type View } from './view.ts'

type Json = { readonly [keyword: string]: unknown }

/** Marks a part of a described schema without a form in JSON. */
export const unsendable = 'x-unsendable'

/** The valid values of a JSON Schema; strings become numbers, booleans and null where it requires them. */
export function viewOfJson(schema: unknown): View {
  if (!isObject(schema)) return anything
  const root = flattened(schema).schema
  return viewOfNode(root, root)
}

function viewOfNode(schema: unknown, root: unknown): View {
  if (!isObject(schema)) return anything
  if (isView(schema[unsendable])) return schema[unsendable]
  const parts: Lazy[] = []
  for (const keyword of ['anyOf', 'oneOf'] as const) {
    const list = schema[keyword]
    if (Array.isArray(list) && list.length > 0) {
      parts.push({ of: list, view: () => ({ is: 'either', parts: list.map((one) => lazy(one, root)) }) })
    }
  }
  if (Array.isArray(schema.allOf)) parts.push(...schema.allOf.map((one) => lazy(one, root)))
  if (schema.$ref !== undefined) parts.push(lazy(targetOf(schema.$ref, root), root))
  const own = viewOfType(schema, root)
  return parts.length === 0 ? own : { is: 'both', parts: [{ of: own, view: () => own }, ...parts] }
}

const isView = (value: unknown): value is View => isObject(value) && typeof value.is === 'string'
const lazy = (of: unknown, root: unknown): Lazy => ({ of, view: () => viewOfNode(of, root) })

function viewOfType(schema: Json, root: unknown): View {
  const values = 'const' in schema ? [schema.const] : Array.isArray(schema.enum) ? schema.enum : undefined
  if (values !== undefined) return values.length > 0 && values.every(isObject) ? { is: 'object', members: [] } : text
  if (schema.nullable === true || schema.type === undefined) return anything
  const types = [schema.type].flat()
  // A string is converted to each of the other types where they are required.
  if (types.some((type) => type !== 'object' && type !== 'array')) return text
  const views = types.map((type) => (type === 'object' ? viewOfObject(schema, root) : viewOfArray(schema, root)))
  return views.length === 1 ? views[0]! : { is: 'either', parts: views.map((view) => ({ of: view, view: () => view })) }
}

function viewOfObject({ properties, required }: Json, root: unknown): View {
  const needed = new Set(Array.isArray(required) ? required : [])
  const members = Object.entries(isObject(properties) ? properties : {}).map(([name, one]) => {
    const inner = lazy(one, root)
    const optional: Lazy = { of: inner, view: () => ({ is: 'optional', inner }) }
    return [name, needed.has(name) ? inner : optional] as const
  })
  return { is: 'object', members }
}

function viewOfArray({ items, prefixItems }: Json, root: unknown): View {
  const tuple = Array.isArray(prefixItems) ? prefixItems : Array.isArray(items) ? items : undefined
  const [item] = tuple ?? [items]
  return { is: 'list', items: isObject(item) ? [lazy(item, root)] : [], mayBeEmpty: true }
}

interface ForeignType {
  readonly path: readonly string[]
  readonly type: string
}

/** The place where a JSON Schema names a type that JSON does not have: TypeBox has some for values that stay in a process. */
export function foreignType(schema: object): ForeignType | undefined {
  const root = flattened(schema).schema
  const seen = new Set<unknown>()
  const find = (node: unknown, path: readonly string[]): ForeignType | undefined => {
    if (!isObject(node) || seen.has(node)) return undefined
    seen.add(node)
    const wrong = [node.type].flat().find((type) => typeof type === 'string' && !jsonTypes.has(type))
    if (wrong !== undefined) return { path, type: String(wrong) }
    const members = Object.entries(isObject(node.properties) ? node.properties : {})
    const others = [...schemasWithin(node)].flatMap(([keyword, one]) => (keyword === 'properties' ? [] : [one]))
    const inside: [path: readonly string[], part: unknown][] = [
      ...members.map(([name, one]): [string[], unknown] => [[...path, name], one]),
      ...[...others, targetOf(node.$ref, root)].map((one): [readonly string[], unknown] => [path, one]),
    ]
    for (const [where, part] of inside) {
      const found = find(part, where)
      if (found !== undefined) return found
    }
    return undefined
  }
  return find(root, [])
}
