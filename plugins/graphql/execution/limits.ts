import type { DocumentNode, FieldNode, FragmentDefinitionNode, SelectionNode, SelectionSetNode } from 'graphql'
import { madeIn } from '../../shared/values/memoize.ts'
import type { Limits } from '../options.ts'

// Not options: larger documents keep a server busy for tens of milliseconds, and no person writes them. graphql-js compares fields with
// the same name in the same place in pairs (2000 tokens can make a million pairs), and fragments that spread each other multiply the
// selections of a few lines.
const maxVisits = 5_000
const maxPairs = 10_000

// Each list of the introspection is as long as the schema: with thirty aliases, it kept a server with 300 types busy for seconds.
const aliasInIntrospection = 10

/**
 * Returns which limit a document exceeds; `undefined` when it exceeds none.
 *
 * Counts the document as it would be executed: a fragment wherever it is spread, and fields with the same name in the same place
 * as one field.
 *
 * Stops as soon as a limit is exceeded, so that no document takes longer than the largest allowed one.
 */
export function measure(document: DocumentNode, limits: Limits): string | undefined {
  try {
    new Counter(document, limits).count()
    return undefined
  } catch (error) {
    if (error instanceof Excess) return error.what
    throw error
  }
}

/** Thrown for a document that exceeds a limit. Not an Error: a stack would cost more than the count. */
class Excess {
  readonly what: string

  constructor(what: string) {
    this.what = what
  }
}

/** The fragments of a document by name. */
export const fragmentsOf = ({ definitions }: DocumentNode): ReadonlyMap<string, FragmentDefinitionNode> =>
  new Map(definitions.flatMap((one) => (one.kind === 'FragmentDefinition' ? [[one.name.value, one] as const] : [])))

/** The fields of one level, by their name in the response. */
type Level = Map<string, FieldNode[]>

class Counter {
  readonly #document: DocumentNode
  readonly #limits: Limits
  readonly #fragments: ReadonlyMap<string, FragmentDefinitionNode>
  readonly #reached = new Set<string>()
  /** The fragments around the place that is being counted. */
  readonly #open = new Set<string>()
  #visits = 0
  #pairs = 0
  #aliases = 0
  #directives = 0

  constructor(document: DocumentNode, limits: Limits) {
    this.#document = document
    this.#limits = limits
    this.#fragments = fragmentsOf(document)
  }

  /** @throws Excess */
  count(): void {
    for (const one of this.#document.definitions) {
      if (one.kind !== 'OperationDefinition') continue
      this.#countDirectives(one.directives?.length)
      for (const variable of one.variableDefinitions ?? []) this.#countDirectives(variable.directives?.length)
      this.#walk([one.selectionSet], 1, false)
    }
    // Fragments that no operation uses are counted as well, because they are still validated.
    for (const one of this.#fragments.values()) {
      if (this.#reached.has(one.name.value)) continue
      this.#countDirectives(one.directives?.length)
      this.#walk([one.selectionSet], 1, false)
    }
  }

  #walk(sets: readonly SelectionSetNode[], depth: number, introspects: boolean): void {
    const level: Level = new Map()
    const spread = new Set<string>()
    for (const set of sets) this.#collect(set, level, spread, introspects)
    for (const [, fields] of level) {
      this.#pairs += (fields.length * (fields.length - 1)) / 2
      if (this.#pairs > maxPairs) throw new Excess('repeats fields too often')
      const below = introspects || fields[0]!.name.value.startsWith('__')
      if (!below && depth > this.#limits.depth) throw new Excess(`nests deeper than ${this.#limits.depth} levels`)
      const deeper = fields.flatMap(({ selectionSet }) => selectionSet ?? [])
      if (deeper.length > 0) this.#walk(deeper, below ? depth : depth + 1, below)
    }
  }

  #collect(set: SelectionSetNode, level: Level, spread: Set<string>, introspects: boolean): void {
    for (const selection of set.selections) {
      if (++this.#visits > maxVisits) throw new Excess('requests too many fields')
      this.#countDirectives(selection.directives?.length)
      this.#collectOne(selection, level, spread, introspects)
    }
  }

  #collectOne(selection: SelectionNode, level: Level, spread: Set<string>, introspects: boolean): void {
    if (selection.kind === 'InlineFragment')
      return void this.#collect(selection.selectionSet, level, spread, introspects)
    if (selection.kind === 'FragmentSpread') {
      const name = selection.name.value
      if (this.#open.has(name)) throw new Excess(`spreads the fragment ${name} in itself`)
      if (spread.has(name)) return
      spread.add(name)
      const fragment = this.#fragments.get(name)
      if (fragment === undefined) return
      if (!this.#reached.has(name)) this.#countDirectives(fragment.directives?.length)
      this.#reached.add(name)
      this.#open.add(name)
      this.#collect(fragment.selectionSet, level, spread, introspects)
      this.#open.delete(name)
      return
    }
    if (selection.alias !== undefined) this.#countAlias(selection, introspects)
    madeIn(level, (selection.alias ?? selection.name).value, () => [] as FieldNode[]).push(selection)
  }

  #countAlias({ name: { value } }: FieldNode, introspects: boolean): void {
    const isList = introspects || value === '__schema' || value === '__type'
    this.#aliases += isList ? aliasInIntrospection : 1
    if (this.#aliases <= this.#limits.aliases) return
    throw new Excess(
      isList ? 'has too many aliases in the introspection' : `has more than ${this.#limits.aliases} aliases`,
    )
  }

  #countDirectives(count = 0): void {
    this.#directives += count
    if (this.#directives > this.#limits.directives)
      throw new Excess(`has more than ${this.#limits.directives} directives`)
  }
}
