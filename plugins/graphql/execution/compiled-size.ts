import type { DocumentNode, GraphQLNamedType, GraphQLSchema, OperationDefinitionNode, SelectionSetNode } from 'graphql'
import type { Graphql } from '../packages.ts'
import { fragmentsOf } from './limits.ts'

/**
 * Estimates the size of the compiler's output for an operation, in fields: fields of interfaces and unions are counted once for each
 * possible type, and for variables, every field of their types is counted, at every depth.
 *
 * For an input type that contains itself, the compiler would write without end until the stack overflows; three levels of an
 * interface with a hundred types took it 25 seconds. Stops counting above `most`.
 */
export function expandedSize(
  graphql: Graphql,
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  most: number,
): number {
  const fragments = fragmentsOf(document)
  const typeNamed = (name: string | undefined) => (name === undefined ? undefined : schema.getType(name))
  let size = 0

  /** `times`: how often the surrounding part is written. */
  function select(set: SelectionSetNode, type: GraphQLNamedType | undefined, times: number): void {
    const each = graphql.isAbstractType(type) ? times * schema.getPossibleTypes(type).length : times
    for (const one of set.selections) {
      size += each
      if (size > most) return
      if (one.kind === 'FragmentSpread') {
        const fragment = fragments.get(one.name.value)
        if (fragment) select(fragment.selectionSet, typeNamed(fragment.typeCondition.name.value), times)
      } else if (one.kind === 'InlineFragment') {
        select(one.selectionSet, one.typeCondition ? typeNamed(one.typeCondition.name.value) : type, times)
      } else if (one.selectionSet) {
        select(one.selectionSet, fieldType(type, one.name.value), each)
      }
    }
  }
  /** Returns the type of a field; `undefined` for fields of the introspection, below which no type is abstract. */
  function fieldType(type: GraphQLNamedType | undefined, name: string): GraphQLNamedType | undefined {
    const fields = graphql.isObjectType(type) || graphql.isInterfaceType(type) ? type.getFields() : undefined
    return graphql.getNamedType(fields?.[name]?.type)
  }
  function take(type: unknown): void {
    size++
    if (size > most) return
    if (graphql.isNonNullType(type)) take(type.ofType)
    else if (graphql.isListType(type)) {
      // Written twice: for a list, and for a single value instead of a list.
      take(type.ofType)
      take(type.ofType)
    } else if (graphql.isInputObjectType(type)) for (const field of Object.values(type.getFields())) take(field.type)
  }

  select(operation.selectionSet, schema.getRootType(operation.operation) ?? undefined, 1)
  for (const variable of operation.variableDefinitions ?? []) take(graphql.typeFromAST(schema, variable.type))
  return size
}
