import type { GraphQLSchema } from 'graphql'
import { Trace } from '../../../kernel/index.ts'
import type { Graphql } from '../packages.ts'
import type { Run } from './execute.ts'
import type { GraphqlOperationTrace, GraphqlResolverTrace } from './trace-events.ts'

const operationTrace = new Trace<GraphqlOperationTrace>('graphql.operation')
const resolverTrace = new Trace<GraphqlResolverTrace>('graphql.resolver')

export function tracedRun(run: Run, type: GraphqlOperationTrace['type'], name: string | undefined): Run {
  return (context, variables) =>
    operationTrace.run(
      () => ({ type, name }),
      () => run(context, variables),
    )
}

const traced = new WeakSet<GraphQLSchema>()

/** Makes the resolvers of a schema publish traces, if there is a subscriber when it is built; except for trivial default resolvers. */
export function traceResolvers(graphql: Graphql, schema: GraphQLSchema): void {
  if (!resolverTrace.isOn || traced.has(schema)) return
  traced.add(schema)
  for (const type of Object.values(schema.getTypeMap())) {
    if (!graphql.isObjectType(type) || type.name.startsWith('__')) continue
    for (const field of Object.values(type.getFields())) {
      const { resolve } = field
      if (resolve === undefined) continue
      field.resolve = (source, args, context, info) =>
        resolverTrace.run(
          () => ({ type: type.name, field: field.name, info }),
          () => resolve(source, args, context, info),
        )
    }
  }
}
