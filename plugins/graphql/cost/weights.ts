import type { GraphQLField, GraphQLNamedType, GraphQLObjectType, GraphQLSchema } from 'graphql'
import { toPlain } from '../../shared/values/json.ts'
import { madeIn } from '../../shared/values/memoize.ts'
import type { CostSettings } from '../options.ts'
import type { Graphql } from '../packages.ts'
import { type Carrier, directiveOn } from './directives.ts'
import { defaultOf } from './variables.ts'

/** The cost of a field according to the schema. */
export interface FieldWeight {
  /** The weight of one value of the field. */
  readonly weight: number
  /** The weights of arguments, if given, by name. */
  readonly ofArguments: readonly (readonly [name: string, weight: number])[]
  readonly isList: boolean
  /** The length of the list if no argument sets it; `undefined`: the surrounding field may set it. */
  readonly assumedSize: number | undefined
  /** The arguments that set the length; a path with dots leads into an input object. */
  readonly slicing: readonly string[]
  /** Whether exactly one of these arguments is required. */
  readonly needsOne: boolean
  /** The lists below the field whose length the arguments set, if the field itself is not a list; `undefined`: all of these lists. */
  readonly sized: readonly string[] | undefined
  /** The same number for fields of several types that cost the same in every operation. */
  readonly kind: number
}

/** Returns the function that reads the weight of a field of a type, once for each. */
export function weightsOf(
  graphql: Graphql,
  schema: GraphQLSchema,
  { slicingArguments }: Pick<CostSettings, 'slicingArguments'>,
): (field: GraphQLField<unknown, unknown>, type: GraphQLObjectType) => FieldWeight {
  const known = new Map<GraphQLField<unknown, unknown>, FieldWeight>()
  const kinds = new Map<string, number>()
  const directive = (name: string, carriers: readonly Carrier[]) =>
    carriers.map((one) => directiveOn(graphql, one, name)).find((one) => one !== undefined)
  const weightOn = (...carriers: readonly Carrier[]) => numberOf(directive('cost', carriers)?.weight)
  /** 1 for an object and 0 for a leaf, unless the type says otherwise. */
  const weightOf = (type: GraphQLNamedType): number => {
    const own = weightOn(type)
    if (!graphql.isAbstractType(type)) return own ?? (graphql.isObjectType(type) ? 1 : 0)
    return Math.max(own ?? 0, ...schema.getPossibleTypes(type).map((one) => weightOn(one) ?? own ?? 1))
  }
  const read = (field: GraphQLField<unknown, unknown>, type: GraphQLObjectType): FieldWeight => {
    const below = graphql.getNamedType(field.type)
    // What an interface says, its types need not repeat.
    const said = [field, ...type.getInterfaces().flatMap((one) => one.getFields()[field.name] ?? [])]
    const listSize = directive('listSize', said) ?? {}
    const named = texts(listSize.slicingArguments)
    const inputsOf = (name: string) => said.flatMap(({ args }) => args.find((one) => one.name === name) ?? [])
    const facts = {
      weight: weightOn(...said) ?? weightOf(below),
      ofArguments: field.args.map(({ name }) => [name, weightOn(...inputsOf(name)) ?? 0] as const),
      isList: graphql.isListType(graphql.getNullableType(field.type)),
      assumedSize: numberOf(listSize.assumedSize),
      slicing: named ?? field.args.map(({ name }) => name).filter((name) => slicingArguments.includes(name)),
      needsOne: named !== undefined && listSize.requireOneSlicingArgument !== false,
      sized: texts(listSize.sizedFields),
    }
    const defaults = field.args.map((arg) => defaultOf(graphql, arg))
    const kind = JSON.stringify(toPlain([below.name, facts, defaults]))
    return { ...facts, kind: madeIn(kinds, kind, () => kinds.size) }
  }
  return (field, type) => madeIn(known, field, () => read(field, type))
}

function texts(value: unknown): string[] | undefined {
  const list = typeof value === 'string' ? [value] : value
  return Array.isArray(list) && list.length > 0 ? list.map(String) : undefined
}

/** Returns a number of at least 0; accepts a string as well, since the cost specification uses strings. */
export function numberOf(value: unknown): number | undefined {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof number === 'number' && number >= 0 ? number : undefined
}
