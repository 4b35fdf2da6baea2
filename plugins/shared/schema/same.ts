import { beginEffort, endEffort, spend } from './effort.ts'

/**
 * A text that two values have in common when JSON Schema takes them for equal: objects with the same members in another
 * order are, and so are 1 and 1.0.
 */
export function sameText(value: unknown): string {
  spend(1)
  switch (typeof value) {
    case 'string':
      spend(value.length >> 4)
      return JSON.stringify(value)
    case 'number':
      return Object.is(value, -0) ? '0' : String(value)
    case 'object':
      if (value === null) return 'null'
      return Array.isArray(value) ? `[${value.map(sameText).join()}]` : textOfObject(value)
    case 'bigint':
      return `${value}n`
    default:
      return String(value)
  }
}

function textOfObject(value: object): string {
  if (value instanceof Date) return `date ${value.getTime()}`
  if (value instanceof RegExp || ArrayBuffer.isView(value)) return `text ${String(value)}`
  const names = Object.keys(value)
  // A sort takes more than one step for each of them.
  spend(names.length * 4)
  names.sort()
  return `{${names.map((name) => `${JSON.stringify(name)}:${sameText((value as Record<string, unknown>)[name])}`).join()}}`
}

/** The last item of a list that has an equal one in front of it, and the nearest of these. */
export function findSame(items: readonly unknown[]): { readonly i: number; readonly j: number } | undefined {
  // Ajv compares each with each: 3 s for 100 kB of objects.
  const last = new Map<unknown, number>()
  let found: { i: number; j: number } | undefined
  for (let i = 0; i < items.length; i++) {
    const item = items[i]
    spend(4)
    const isScalar = typeof item !== 'object' || item === null
    // With a quote in front, no text is that of an object.
    const key = isScalar ? (typeof item === 'string' ? `"${item}` : item) : sameText(item)
    const j = last.get(key)
    if (j !== undefined) found = { i, j }
    last.set(key, i)
  }
  return found
}

/** Whether a value is among others, found at once however many they are. */
export function memberTest(values: readonly unknown[]): (value: unknown) => boolean {
  const isObject = (value: unknown) => typeof value === 'object' && value !== null
  const scalars = new Set(values.filter((value) => !isObject(value)))
  beginEffort(values)
  const texts = new Set(values.filter(isObject).map(sameText))
  endEffort()
  return (value) => (isObject(value) ? texts.size > 0 && texts.has(sameText(value)) : scalars.has(value))
}
