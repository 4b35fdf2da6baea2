import type { GraphQLField, GraphQLNamedType } from 'graphql'
import { madeIn } from '../../shared/values/memoize.ts'
import type { CostSettings } from '../options.ts'
import type { Graphql } from '../packages.ts'
import { directiveOn } from './directives.ts'

/** The cost of a field according to the schema. */
export interface FieldWeight {
  /** The weight of one value of the field. */
  readonly weight: number
  /** The weight of each argument, if given, by name. */
  readonly ofArguments: ReadonlyMap<string, number>
  readonly isList: boolean
  /** The length of the list if no argument sets it; `undefined`: the surrounding field may set it. */
  readonly assumedSize: number | undefined
  /** The arguments that set the length; a path with dots leads into an input object. */
  readonly slicing: readonly string[]
  /** Whether exactly one of these arguments is required. */
  readonly needsOne: boolean
  /** The lists below the field whose length the arguments set, if the field itself is not a list; `undefined`: all of these lists. */
  readonly sized: ReadonlySet<string> | undefined
}

/** Returns the function that reads the weight of a field, once for each. */
export function weightsOf(
  graphql: Graphql,
  { slicingArguments }: Pick<CostSettings, 'slicingArguments'>,
): (field: GraphQLField<unknown, unknown>) => FieldWeight {
  const known = new Map<GraphQLField<unknown, unknown>, FieldWeight>()
  const weightOn = (carrier: Parameters<typeof directiveOn>[1]) =>
    numberOf(directiveOn(graphql, carrier, 'cost')?.weight)
  /** 1 for an object and 0 for a leaf, unless the type says otherwise. */
  const weightOf = (type: GraphQLNamedType) => weightOn(type) ?? (graphql.isCompositeType(type) ? 1 : 0)
  const read = (field: GraphQLField<unknown, unknown>): FieldWeight => {
    const listSize = directiveOn(graphql, field, 'listSize') ?? {}
    const named = texts(listSize.slicingArguments)
    const ofArguments = field.args.map((arg) => [arg.name, weightOn(arg)] as const)
    const sized = texts(listSize.sizedFields)
    return {
      weight: weightOn(field) ?? weightOf(graphql.getNamedType(field.type)),
      ofArguments: new Map(ofArguments.filter((entry): entry is [string, number] => entry[1] !== undefined)),
      isList: graphql.isListType(graphql.getNullableType(field.type)),
      assumedSize: numberOf(listSize.assumedSize),
      slicing: named ?? field.args.map(({ name }) => name).filter((name) => slicingArguments.includes(name)),
      needsOne: named !== undefined && listSize.requireOneSlicingArgument !== false,
      sized: sized && new Set(sized),
    }
  }
  return (field) => madeIn(known, field, read)
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
