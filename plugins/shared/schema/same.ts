import { spend } from './json-schema/budget.ts'

/** Called with the number of steps that some work took. */
type Spend = (steps: number) => void
const freely: Spend = () => {}

/**
 * A string that is the same for two values that are equal in JSON Schema: objects with the same members in another
 * order are equal, and so are 1 and 1.0. `undefined` if it is longer than `max`, which a part of the value is enough to find out.
 */
function sameText(value: unknown, spent: Spend, max = Number.POSITIVE_INFINITY): string | undefined {
  spent(2)
  switch (typeof value) {
    case 'string':
      spent(value.length >> 3)
      return value.length > max ? undefined : JSON.stringify(value)
    case 'number':
      return Object.is(value, -0) ? '0' : String(value)
    case 'object':
      if (value === null) return 'null'
      if (Array.isArray(value)) return textOfParts(value, undefined, spent, max)
      return textOfObject(value as Record<string, unknown>, spent, max)
    case 'bigint':
      return `${value}n`
    default:
      return String(value)
  }
}

function textOfObject(value: Record<string, unknown>, spent: Spend, max: number): string | undefined {
  if (value instanceof Date) return `date ${value.getTime()}`
  if (value instanceof RegExp || ArrayBuffer.isView(value)) return `text ${String(value)}`
  const names = Object.keys(value)
  // Sorting takes more than one step for each name.
  spent(names.length * 4)
  if (names.length > max) return undefined
  names.sort()
  return textOfParts(value, names, spent, max)
}

/** The text of a list, or of an object with these names. */
function textOfParts(
  value: object,
  names: readonly string[] | undefined,
  spent: Spend,
  max: number,
): string | undefined {
  const keys = names ?? (value as readonly unknown[])
  // Appended and not joined: joining would copy deeply nested parts once for each level.
  let text = names === undefined ? '[' : '{'
  for (let i = 0; i < keys.length; i++) {
    if (names !== undefined) text += `${JSON.stringify(names[i])}:`
    const part = sameText((value as Record<PropertyKey, unknown>)[names?.[i] ?? i], spent, max - text.length)
    if (part === undefined) return undefined
    text += part
    text += ','
    if (text.length > max) return undefined
  }
  return `${text}]`
}

/** The last item of a list that equals an earlier one, and the nearest such earlier one. */
export function findSame(items: readonly unknown[]): { readonly i: number; readonly j: number } | undefined {
  // Ajv compares each item with every other: 3 s for 100 kB of objects.
  const last = new Map<unknown, number>()
  let found: { i: number; j: number } | undefined
  for (let i = 0; i < items.length; i++) {
    const item = items[i]
    spend(4)
    const isScalar = typeof item !== 'object' || item === null
    // With a leading quote, no string equals the text of an object.
    const key = isScalar ? (typeof item === 'string' ? `"${item}` : item) : sameText(item, spend)
    const j = last.get(key)
    if (j !== undefined) found = { i, j }
    last.set(key, i)
  }
  return found
}

/** Whether a value is among others, in constant time for any number of them. */
export function memberTest(values: readonly unknown[], spent: Spend = freely): (value: unknown) => boolean {
  const isObject = (value: unknown) => typeof value === 'object' && value !== null
  const scalars = new Set(values.filter((value) => !isObject(value)))
  const texts = new Set(values.filter(isObject).map((value) => sameText(value, freely)!))
  const longest = Math.max(-1, ...[...texts].map((text) => text.length))
  return (value) => {
    if (!isObject(value)) return scalars.has(value)
    const text = longest === -1 ? undefined : sameText(value, spent, longest)
    return text !== undefined && texts.has(text)
  }
}
