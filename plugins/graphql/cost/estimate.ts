import type {
  DocumentNode,
  FieldNode,
  FragmentDefinitionNode,
  GraphQLCompositeType,
  GraphQLField,
  GraphQLObjectType,
  GraphQLSchema,
  OperationDefinitionNode,
  SelectionNode,
  SelectionSetNode,
} from 'graphql'
import { madeIn } from '../../shared/values/memoize.ts'
import { fragmentsOf } from '../execution/limits.ts'
import type { Graphql } from '../packages.ts'
import type { Values } from './variables.ts'
import { type FieldWeight, numberOf } from './weights.ts'

/** The estimate is made before anything is executed; up to this many selections, it takes negligible time. */
const maxVisits = 20_000

/** The reason why the cost of an operation cannot be determined; such an operation is not executed. */
export class Uncountable extends Error {}

/** The data that all operations share. */
export interface CostBasis {
  readonly graphql: Graphql
  readonly schema: GraphQLSchema
  readonly weightOf: (field: GraphQLField<unknown, unknown>, type: GraphQLObjectType) => FieldWeight
  /** The assumed length of a list whose length is unknown. */
  readonly listSize: number
}

/**
 * Estimates the cost of an operation: the weight of each field, multiplied by the lengths of the lists around it. Fields with the
 * same name in the same place count as one field; of the possible types of an interface, the most expensive one counts.
 */
export class Estimate {
  readonly #basis: CostBasis
  readonly #values: Values
  readonly #fragments: ReadonlyMap<string, FragmentDefinitionNode>
  #visits = 0

  constructor(basis: CostBasis, document: DocumentNode, values: Values) {
    this.#basis = basis
    this.#values = values
    this.#fragments = fragmentsOf(document)
  }

  /** @throws Uncountable with the reason. */
  of({ operation, selectionSet }: OperationDefinitionNode): number {
    const root = this.#basis.schema.getRootType(operation)
    const base = operation === 'mutation' ? 10 : 0
    return root ? base + this.#select([selectionSet], root) : base
  }

  /** Returns the cost of selections; `around` is the surrounding field, if it sets the lengths of the lists in it. */
  #select(sets: readonly SelectionSetNode[], type: GraphQLCompositeType, around?: Around): number {
    const { graphql, schema, weightOf } = this.#basis
    if (graphql.isObjectType(type)) return this.#fields(sets, type, around)
    const all = new Map<string, FieldNode[]>()
    const conditions = new Set<string>()
    for (const set of sets) this.#collect(set, all, (condition) => conditions.add(condition).size > 0)
    const names = new Set([...all.values()].flat().map((node) => node.name.value))
    // Types to which the same fragments apply, and whose fields cost the same, cost the same: one of them is enough.
    const kinds = new Map<string, GraphQLObjectType>()
    for (const one of schema.getPossibleTypes(type)) {
      const fields = one.getFields()
      let kind = ''
      for (const name of conditions) if (this.#applies(name, one)) kind += `${name},`
      for (const name of names) kind += `${fields[name] && weightOf(fields[name], one).kind},`
      madeIn(kinds, kind, () => one)
    }
    return Math.max(0, ...[...kinds.values()].map((one) => this.#fields(sets, one, around)))
  }

  #fields(sets: readonly SelectionSetNode[], type: GraphQLObjectType, around?: Around): number {
    const fields = new Map<string, FieldNode[]>()
    for (const set of sets) this.#collect(set, fields, (condition) => this.#applies(condition, type))
    return [...fields.values()].reduce((sum, nodes) => sum + this.#field(nodes, type, around), 0)
  }

  #field(nodes: readonly FieldNode[], type: GraphQLObjectType, around?: Around): number {
    const { graphql, weightOf } = this.#basis
    const name = nodes[0]!.name.value
    const field = this.#fieldOf(type, name)
    if (field === undefined) return 0
    const below = graphql.getNamedType(field.type)
    const deeper = nodes.flatMap(({ selectionSet }) => selectionSet ?? [])
    const select = (size?: Around) => (graphql.isCompositeType(below) ? this.#select(deeper, below, size) : 0)
    // The lists of the introspection are as long as the schema, whatever the query is.
    if (name.startsWith('__') || type.name.startsWith('__')) return (graphql.isCompositeType(below) ? 1 : 0) + select()
    const own = weightOf(field, type)
    const given = this.#slice(own, nodes, field, type)
    let cost = 0
    for (const [argument, extra] of own.ofArguments) if (isGiven(nodes, argument)) cost += extra
    if (!own.isList) {
      const size = given ?? own.assumedSize
      return cost + own.weight + select(size === undefined ? undefined : { size, sized: own.sized })
    }
    const inherited = own.slicing.length === 0 && isSized(around, name) ? around!.size : undefined
    const one = own.weight + select()
    // Zero stays zero, whatever the length.
    return cost + (one === 0 ? 0 : one * (given ?? inherited ?? own.assumedSize ?? this.#basis.listSize))
  }

  #fieldOf(type: GraphQLObjectType, name: string): GraphQLField<unknown, unknown> | undefined {
    const { SchemaMetaFieldDef, TypeMetaFieldDef } = this.#basis.graphql
    if (name === SchemaMetaFieldDef.name) return SchemaMetaFieldDef
    const isRoot = type === this.#basis.schema.getQueryType()
    return isRoot && name === TypeMetaFieldDef.name ? TypeMetaFieldDef : type.getFields()[name]
  }

  /** Returns the length of the list according to its arguments: the largest, at least 1; `undefined` when no argument sets it. */
  #slice(
    { slicing, needsOne }: FieldWeight,
    nodes: readonly FieldNode[],
    field: GraphQLField<unknown, unknown>,
    type: GraphQLObjectType,
  ): number | undefined {
    const sizes: number[] = []
    for (const path of slicing) {
      const [name = '', ...inside] = path.split('.')
      // Fields with the same name have the same arguments: otherwise the document is invalid.
      const node = nodes[0]!.arguments?.find((one) => one.name.value === name)
      const input = field.args.find((one) => one.name === name)
      const size = numberOf(this.#values.at(node?.value, inside, input))
      if (size !== undefined) sizes.push(Math.max(size, 1))
    }
    if (needsOne && sizes.length !== 1) {
      throw new Uncountable(
        `The field ${type.name}.${field.name} needs exactly one of the arguments ${slicing.join(', ')}.`,
      )
    }
    return sizes.length === 0 ? undefined : Math.max(...sizes)
  }

  #collect(set: SelectionSetNode, level: Map<string, FieldNode[]>, applies: (condition: string) => boolean): void {
    for (const selection of set.selections) {
      if (++this.#visits > maxVisits) throw new Uncountable('The operation has too many fields to calculate its cost.')
      if (this.#isLeftOut(selection)) continue
      if (selection.kind === 'Field') {
        madeIn(level, (selection.alias ?? selection.name).value, () => [] as FieldNode[]).push(selection)
        continue
      }
      const fragment = selection.kind === 'FragmentSpread' ? this.#fragments.get(selection.name.value) : selection
      const condition = fragment?.typeCondition?.name.value
      if (fragment !== undefined && (condition === undefined || applies(condition)))
        this.#collect(fragment.selectionSet, level, applies)
    }
  }

  #applies(condition: string, type: GraphQLObjectType): boolean {
    if (condition === type.name) return true
    const { graphql, schema } = this.#basis
    const named = schema.getType(condition)
    return graphql.isAbstractType(named) && schema.isSubType(named, type)
  }

  /** Whether `@skip` or `@include` leaves a selection out, by a literal or a variable; with an unknown value, it is included. */
  #isLeftOut({ directives }: SelectionNode): boolean {
    for (const { name, arguments: given } of directives ?? []) {
      const skips = name.value === 'skip'
      if (!skips && name.value !== 'include') continue
      if (this.#values.at(given?.find((one) => one.name.value === 'if')?.value) === skips) return true
    }
    return false
  }
}

/** A size that a field sets for the lists below it, such as those of a connection. */
interface Around {
  readonly size: number
  readonly sized: readonly string[] | undefined
}

const isSized = (around: Around | undefined, name: string) =>
  around !== undefined && (around.sized === undefined || around.sized.includes(name))

const isGiven = (nodes: readonly FieldNode[], argument: string) =>
  nodes[0]!.arguments?.some((one) => one.name.value === argument) === true
