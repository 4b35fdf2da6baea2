import type { ConstDirectiveNode, GraphQLSchema } from 'graphql'
import type { Graphql } from '../packages.ts'
import type { SdlDocument } from '../types.ts'

const marked = 'on FIELD_DEFINITION | ARGUMENT_DEFINITION | INPUT_FIELD_DEFINITION'

/** The directives of the cost specification, with the types that they have in Apollo, and the marks of personal data and credentials. */
const definitions: { readonly [name: string]: string } = {
  cost: 'directive @cost(weight: Int!) on FIELD_DEFINITION | ARGUMENT_DEFINITION | OBJECT | INTERFACE | UNION | ENUM | SCALAR',
  listSize:
    'directive @listSize(assumedSize: Int, slicingArguments: [String!], sizedFields: [String!], requireOneSlicingArgument: Boolean = true) on FIELD_DEFINITION',
  sensitive: `directive @sensitive ${marked}`,
  secret: `directive @secret ${marked}`,
}

/** Returns the definitions of directives that type definitions use without defining them, even while costs are not computed. */
export function missingDefinitions(
  graphql: Graphql,
  typeDefs: readonly (string | SdlDocument)[],
  extended?: GraphQLSchema,
): string[] {
  const texts = typeDefs.map((one) =>
    typeof one === 'string' ? one : graphql.print(one as Parameters<Graphql['print']>[0]),
  )
  const has = (pattern: RegExp) => texts.some((text) => pattern.test(text))
  return Object.entries(definitions)
    .filter(([name]) => extended?.getDirective(name) == null)
    .filter(([name]) => has(new RegExp(`@${name}\\b`)) && !has(new RegExp(`\\bdirective\\s+@${name}\\b`)))
    .map(([, definition]) => definition)
}

/** A definition that can have directives: as text in its source, or as data if it was made in code. */
export interface Carrier {
  readonly astNode?: { readonly directives?: readonly ConstDirectiveNode[] | undefined } | null | undefined
  readonly extensionASTNodes?: readonly { readonly directives?: readonly ConstDirectiveNode[] | undefined }[]
  readonly extensions?: unknown
}

/** Returns the arguments of a directive on a field, an argument or a type; `undefined` if the directive is missing. */
export function directiveOn(
  graphql: Graphql,
  carrier: Carrier,
  name: string,
): { readonly [argument: string]: unknown } | undefined {
  for (const { directives } of [carrier.astNode ?? {}, ...(carrier.extensionASTNodes ?? [])]) {
    const found = directives?.find((one) => one.name.value === name)
    if (found === undefined) continue
    const given = (found.arguments ?? []).map((one) => [one.name.value, graphql.valueFromASTUntyped(one.value)])
    return Object.fromEntries(given) as { [argument: string]: unknown }
  }
  // Libraries that make schemas in code store directives here, where tools can find them.
  const kept = (carrier.extensions as { directives?: { [name: string]: unknown } } | undefined)?.directives?.[name]
  const one: unknown = Array.isArray(kept) ? kept[0] : kept
  return typeof one === 'object' && one !== null ? (one as { [argument: string]: unknown }) : undefined
}
