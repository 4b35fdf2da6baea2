import { type Mark, markKinds } from '../shared/schema/marks.ts'
import type { ReadySchema } from './types.ts'

/** A field, an argument or a member of an input type, as text in its source or made in code. */
interface Marked {
  readonly name: string
  readonly args?: readonly Marked[]
  readonly astNode?: { readonly directives?: readonly { readonly name: { readonly value: string } }[] } | null
  readonly extensions?: { readonly directives?: object }
}

// Code has directives by name, or as a list of { name, args }: the form of Pothos, which the tools read as well.
const isMarked = ({ astNode, extensions: { directives: made } = {} }: Marked, kind: Mark) =>
  astNode?.directives?.some(({ name }) => name.value === kind) ||
  (Array.isArray(made) ? made.some((one) => one?.name === kind) : Boolean(Object(made)[kind]))
const markOf = (one: Marked) => Object.fromEntries(markKinds.map((kind) => [kind, isMarked(one, kind)]))
const schemaOf = (members: readonly Marked[]) => ({
  properties: Object.fromEntries(members.map((one) => [one.name, markOf(one)])),
})

/** What comes in and goes out by the types of a schema, with the marks of their members, as JSON Schema. */
export function markedTypes(schema: ReadySchema): { readonly place: string; readonly schema: object }[] {
  return Object.values(schema.getTypeMap()).flatMap((type: { name: string; getFields?: () => object }) => {
    const fields: Marked[] = type.name.startsWith('__') ? [] : Object.values(type.getFields?.() ?? {})
    const side = fields.every(({ args }) => args === undefined) ? 'receive' : 'send'
    return [
      { place: `${side} ${type.name}`, schema: schemaOf(fields) },
      ...fields.map(({ name, args = [] }) => ({ place: `receive ${type.name}.${name}`, schema: schemaOf(args) })),
    ]
  })
}
