import type { GraphQLField, GraphQLNamedType } from 'graphql'
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

/** Reads the weights of fields, once for each field. */
export class Weights {
  readonly #graphql: Graphql
  readonly #settings: CostSettings
  readonly #known = new Map<GraphQLField<unknown, unknown>, FieldWeight>()

  constructor(graphql: Graphql, settings: CostSettings) {
    this.#graphql = graphql
    this.#settings = settings
  }

  of(field: GraphQLField<unknown, unknown>): FieldWeight {
    let known = this.#known.get(field)
    if (known === undefined) {
      known = this.#read(field)
      this.#known.set(field, known)
    }
    return known
  }

  #read(field: GraphQLField<unknown, unknown>): FieldWeight {
    const graphql = this.#graphql
    const listSize = directiveOn(graphql, field, 'listSize') ?? {}
    const named = texts(listSize.slicingArguments)
    const ofArguments = field.args.map((arg) => [arg.name, this.#weightOn(arg)] as const)
    return {
      weight: this.#weightOn(field) ?? this.#weightOf(graphql.getNamedType(field.type)),
      ofArguments: new Map(ofArguments.filter((entry): entry is [string, number] => entry[1] !== undefined)),
      isList: graphql.isListType(graphql.getNullableType(field.type)),
      assumedSize: numberOf(listSize.assumedSize),
      slicing:
        named ?? field.args.map(({ name }) => name).filter((name) => this.#settings.slicingArguments.includes(name)),
      needsOne: named !== undefined && listSize.requireOneSlicingArgument !== false,
      sized: texts(listSize.sizedFields) && new Set(texts(listSize.sizedFields)),
    }
  }

  /** Returns the weight of a type: 1 for an object and 0 for a leaf, unless the type says otherwise. */
  #weightOf(type: GraphQLNamedType): number {
    return this.#weightOn(type) ?? (this.#graphql.isCompositeType(type) ? 1 : 0)
  }

  #weightOn(carrier: Parameters<typeof directiveOn>[1]): number | undefined {
    return numberOf(directiveOn(this.#graphql, carrier, 'cost')?.weight)
  }
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
