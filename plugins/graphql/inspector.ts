import type { GraphQLObjectType, GraphQLSchema } from 'graphql'
import type { InspectorPanel, PanelRow } from '../shared/development/panels.ts'

const rowsOf = (type: GraphQLObjectType): PanelRow[] =>
  Object.values(type.getFields()).map(({ name, args, type: gives, deprecationReason }) => ({
    id: `${type.name}.${name}`,
    cells: [
      type.name,
      name,
      args.map((arg) => `${arg.name}: ${arg.type}`).join(', '),
      String(gives),
      deprecationReason ?? '',
    ],
  }))

export const panels: readonly InspectorPanel[] = [
  {
    title: 'GraphQL fields',
    columns: ['Type', 'Field', 'Arguments', 'Gives', 'Deprecated'],
    rows(services) {
      const schema = services.get('graphql').built as GraphQLSchema | undefined
      if (schema === undefined) return [['The schema is built at the first request.']]
      const types = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()]
      return types.flatMap((type) => (type == null ? [] : rowsOf(type)))
    },
  },
]
