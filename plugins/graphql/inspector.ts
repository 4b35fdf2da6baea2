import type { GraphQLObjectType, GraphQLSchema } from 'graphql'
import type { InspectorPanel, PanelRow } from '../shared/development/panels.ts'

const rowsOf = (type: GraphQLObjectType): PanelRow[] =>
  Object.values(type.getFields()).map((field) => ({
    id: `${type.name}.${field.name}`,
    cells: [
      type.name,
      field.name,
      field.args.map((arg) => `${arg.name}: ${arg.type}`).join(', '),
      String(field.type),
      field.deprecationReason ?? '',
    ],
  }))

export const panels: readonly InspectorPanel[] = [
  {
    title: 'GraphQL fields',
    columns: ['Type', 'Field', 'Arguments', 'Gives', 'Deprecated'],
    rows(services, limit) {
      const schema = services.get('graphql').built as GraphQLSchema | undefined
      if (schema === undefined) return [{ id: '', cells: ['The schema is built at the first request.'] }]
      const types = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()]
      return types.flatMap((type) => (type == null ? [] : rowsOf(type))).slice(0, limit)
    },
  },
]
