import { isObject, type Json } from '../values/json.ts'
import { Link } from './schemas/translate.ts'

/** The members of an object, according to its translated schema. */
export interface Members {
  readonly properties: ReadonlyMap<string, unknown>
  readonly required: ReadonlySet<string>
  /** Whether it may have members that the schema does not name. */
  readonly isOpen: boolean
}

/** Whether a name in an `all` schema is the name of a header. */
export const isHeaderName = (name: string) =>
  name.includes('-') || ['authorization', 'cookie'].includes(name.toLowerCase())

/** The schema of a member itself, in place of a link to it. */
export const schemaOf = (member: unknown): unknown => (member instanceof Link ? member.to.body : member)

/** Whether a member is required: one with a default may be left out. */
export function isRequired({ properties, required }: Members, name: string): boolean {
  const own = schemaOf(properties.get(name))
  return required.has(name) && !(isObject(own) && 'default' in own)
}

const none: Members = { properties: new Map(), required: new Set(), isOpen: true }

/** Reads the members of an object schema, including combinations and references; a schema without any is open. */
export function membersOf(schema: unknown, open: ReadonlySet<unknown> = new Set()): Members {
  if (schema instanceof Link) {
    if (open.has(schema.to)) return none
    const inside = new Set(open).add(schema.to)
    const target = membersOf(schema.to.body, inside)
    return schema.beside === undefined ? target : all([target, membersOf(schema.beside, inside)])
  }
  if (!isObject(schema)) return none
  const parts = [own(schema)]
  if (Array.isArray(schema.allOf)) parts.push(...schema.allOf.map((one) => membersOf(one, open)))
  for (const keyword of ['anyOf', 'oneOf']) {
    const list = schema[keyword]
    if (Array.isArray(list)) parts.push(any(list.filter(isSome).map((one) => membersOf(one, open))))
  }
  return all(parts)
}

/** Whether a schema may have members: `null` as an alternative to an object adds none. */
const isSome = (schema: unknown) => !(isObject(schema) && schema.type === 'null')

function own(schema: Json): Members {
  const named = isObject(schema.properties) ? Object.entries(schema.properties) : []
  const rest = schema.additionalProperties
  const isOpen = isObject(rest) || rest === true || rest instanceof Link || isObject(schema.patternProperties)
  const knowsNone = named.length === 0 && rest === undefined
  return {
    properties: new Map(named),
    required: new Set(Array.isArray(schema.required) ? (schema.required as string[]) : []),
    isOpen: isOpen || knowsNone,
  }
}

/** The members of a value to which several schemas apply. */
function all(parts: readonly Members[]): Members {
  const properties = new Map<string, unknown>()
  for (const part of parts) {
    for (const [name, schema] of part.properties) {
      properties.set(name, properties.has(name) ? { allOf: [properties.get(name), schema] } : schema)
    }
  }
  const required = new Set(parts.flatMap((part) => [...part.required]))
  return {
    properties,
    required,
    isOpen:
      properties.size === 0
        ? parts.every(({ isOpen }) => isOpen)
        : parts.some((part) => part.isOpen && part.properties.size > 0),
  }
}

/** The members of a value that one of several schemas describes. */
function any(parts: readonly Members[]): Members {
  const schemas = new Map<string, unknown[]>()
  for (const part of parts) {
    for (const [name, schema] of part.properties) schemas.set(name, [...(schemas.get(name) ?? []), schema])
  }
  return {
    properties: new Map([...schemas].map(([name, list]) => [name, list.length === 1 ? list[0] : { anyOf: list }])),
    required: new Set(
      parts[0] ? [...parts[0].required].filter((name) => parts.every((part) => part.required.has(name))) : [],
    ),
    isOpen: parts.some((part) => part.isOpen),
  }
}
