import { safely } from './safely.ts'

/** An object with unknown members. */
export type Json = { [name: string]: unknown }

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The member at the end of a path of names; only own members count. `undefined` if there is none. */
export function memberAt(value: unknown, path: readonly string[]): unknown {
  let at = value
  for (const name of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, name)) return undefined
    at = (at as Json)[name]
  }
  return at
}

/** Sets a member with any name: an assignment to `__proto__` would change the prototype. */
export function put(target: object, name: string, value: unknown): void {
  if (name !== '__proto__') (target as Json)[name] = value
  else Object.defineProperty(target, name, { value, enumerable: true, writable: true, configurable: true })
}

/**
 * A copy of a value as `JSON.stringify` would write it; `undefined` for a value that it leaves out. A
 * bigint becomes a number or, where that would change it, a string; an object within itself is left out.
 */
export function toPlain(value: unknown, open: ReadonlySet<unknown> = new Set()): unknown {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value)
  if (typeof value !== 'object' || open.has(value) || open.size > 100) return undefined
  const inside = new Set(open).add(value)
  if (typeof (value as { toJSON?: unknown }).toJSON === 'function') {
    return safely(() => toPlain((value as { toJSON(): unknown }).toJSON(), inside))
  }
  if (Array.isArray(value)) return value.map((one) => toPlain(one, inside) ?? null)
  return mapMembers(value, (one) => toPlain(one, inside))
}

/** Merges two objects, recursively; members of the second override those of the first. */
export function mergeOver(below: Json, above: Json): Json {
  const merged: Json = { ...below }
  for (const [name, value] of Object.entries(above)) {
    const there = Object.hasOwn(merged, name) ? merged[name] : undefined
    put(merged, name, isPlain(there) && isPlain(value) ? mergeOver(there, value) : value)
  }
  return merged
}

/** Whether a value is an object of no class. */
export function isPlain(value: unknown): value is Json {
  if (!isObject(value)) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** A copy of an object with a changed value for each member; without those whose changed value is `undefined`. */
export const mapMembers = (members: object, change: (value: unknown, name: string) => unknown): Json =>
  defined(Object.fromEntries(Object.entries(members).map(([name, value]) => [name, change(value, name)])))

/** An object whose members may be missing, but are not `undefined`. */
export type Defined<Members extends object> = { [Name in keyof Members]?: Exclude<Members[Name], undefined> }

/** The members that are not `undefined`: a package takes one that is `undefined` as given, in place of its own default. */
export const defined = <Members extends object>(members: Members) =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Defined<Members>
