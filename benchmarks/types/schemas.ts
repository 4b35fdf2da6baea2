/** A schema, independent of libraries. */
export type Shape =
  | { readonly kind: 'string' | 'integer' | 'number' }
  | { readonly kind: 'enum'; readonly values: readonly string[] }
  | { readonly kind: 'array'; readonly items: Shape }
  | { readonly kind: 'object'; readonly members: Readonly<Record<string, Shape | Optional>> }

export interface Optional {
  readonly kind: 'optional'
  readonly of: Shape
}

export const string: Shape = { kind: 'string' }
export const integer: Shape = { kind: 'integer' }
export const number: Shape = { kind: 'number' }
export const enumeration = (...values: string[]): Shape => ({ kind: 'enum', values })
export const array = (items: Shape): Shape => ({ kind: 'array', items })
export const object = (members: Readonly<Record<string, Shape | Optional>>): Shape => ({ kind: 'object', members })
export const optional = (of: Shape): Optional => ({ kind: 'optional', of })

/** How one library writes schemas. */
export interface SchemaKind {
  readonly name: 'Zod' | 'TypeBox 0.34' | 'TypeBox 1' | 'JSON Schema'
  /** The import, if the library needs one. */
  readonly header: string
  /** Writes the expression of a schema. */
  write(shape: Shape): string
  /** Does the same for a query, in which numbers arrive as strings. */
  writeQuery(shape: Shape): string
}

const list = (items: readonly string[]) => items.join(', ')
const members = (shape: Shape & { kind: 'object' }, write: (member: Shape | Optional) => string) =>
  list(Object.entries(shape.members).map(([name, member]) => `${name}: ${write(member)}`))
const quoted = (values: readonly string[]) => values.map((value) => `'${value}'`)

function zod(shape: Shape | Optional, coerce = false): string {
  const own = (one: Shape | Optional) => zod(one, coerce)
  switch (shape.kind) {
    case 'string':
      return 'z.string()'
    case 'integer':
      return coerce ? 'z.coerce.number<string>().int()' : 'z.int()'
    case 'number':
      return 'z.number()'
    case 'enum':
      return `z.enum([${list(quoted(shape.values))}])`
    case 'array':
      return `z.array(${own(shape.items)})`
    case 'optional':
      return `${own(shape.of)}.optional()`
    case 'object':
      return `z.object({ ${members(shape, own)} })`
  }
}

/** Writes schemas as both packages of TypeBox and Elysia's own `t` do. */
export function typebox(shape: Shape | Optional, type: string): string {
  const own = (one: Shape | Optional) => typebox(one, type)
  switch (shape.kind) {
    case 'string':
      return `${type}.String()`
    case 'integer':
      return `${type}.Integer()`
    case 'number':
      return `${type}.Number()`
    case 'enum':
      return shape.values.length === 1
        ? `${type}.Literal(${quoted(shape.values)[0]})`
        : `${type}.Union([${list(quoted(shape.values).map((value) => `${type}.Literal(${value})`))}])`
    case 'array':
      return `${type}.Array(${own(shape.items)})`
    case 'optional':
      return `${type}.Optional(${own(shape.of)})`
    case 'object':
      return `${type}.Object({ ${members(shape, own)} })`
  }
}

function json(shape: Shape | Optional): string {
  switch (shape.kind) {
    case 'string':
    case 'integer':
    case 'number':
      return `{ type: '${shape.kind}' }`
    case 'enum':
      return `{ enum: [${list(quoted(shape.values))}] }`
    case 'array':
      return `{ type: 'array', items: ${json(shape.items)} }`
    case 'optional':
      return json(shape.of)
    case 'object': {
      const required = Object.keys(shape.members).filter((name) => shape.members[name]!.kind !== 'optional')
      return `{ type: 'object', properties: { ${members(shape, json)} }, required: [${list(quoted(required))}] }`
    }
  }
}

const typeboxKind = (name: SchemaKind['name'], from: string): SchemaKind => ({
  name,
  header: `import { Type } from '${from}'`,
  write: (shape) => typebox(shape, 'Type'),
  writeQuery: (shape) => typebox(shape, 'Type'),
})

export const zodKind: SchemaKind = {
  name: 'Zod',
  header: `import { z } from 'zod'`,
  write: (shape) => zod(shape),
  writeQuery: (shape) => zod(shape, true),
}
export const legacyTypeboxKind = typeboxKind('TypeBox 0.34', '@sinclair/typebox')
export const typeboxOneKind = typeboxKind('TypeBox 1', 'typebox')
export const jsonKind: SchemaKind = {
  name: 'JSON Schema',
  header: '',
  write: (shape) => `${json(shape)} as const`,
  writeQuery: (shape) => `${json(shape)} as const`,
}
export const schemaKinds = [zodKind, legacyTypeboxKind, typeboxOneKind, jsonKind]
