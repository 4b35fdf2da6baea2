import type { Mark } from '../shared/schema/marks.ts'
import type { ReadySchema } from './types.ts'

/** A field, an argument or a member of an input type, as text in its source or made in code. */
interface Marked {
  readonly name: string
  readonly args?: readonly Marked[]
  readonly astNode?: { readonly directives?: readonly { readonly name: { readonly value: string } }[] } | null
  readonly extensions?: { readonly directives?: object }
}

const kinds: readonly Mark[] = ['secret', 'sensitive']
const isMarked = ({ astNode, extensions }: Marked, kind: Mark) =>
  astNode?.directives?.some(({ name }) => name.value === kind) || Boolean(Object(extensions?.directives)[kind])
const markOf = (one: Marked) => Object.fromEntries(kinds.flatMap((kind) => (isMarked(one, kind) ? [[kind, true]] : [])))
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
