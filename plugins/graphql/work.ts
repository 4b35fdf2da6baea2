import { type WorkKind, workKind } from '../shared/work/kind.ts'
import type { GraphqlOperationTrace, GraphqlResolverTrace } from './execution/trace-events.ts'

export const work: readonly WorkKind[] = [
  workKind<GraphqlOperationTrace>({
    channel: 'graphql.operation',
    list: { id: 'graphql', title: 'GraphQL' },
    help: 'GraphQL operations',
    // The client chooses the operation's name, so it does not become the name of the span.
    span: ({ type }) => type,
    title: ({ name }) => name ?? '(anonymous)',
    note: ({ type }) => type,
    data: ({ type, name }) => ({ type, name }),
    labels: { type: { attribute: 'graphql.operation.type', of: ({ type }) => type } },
    attributes: ({ name }) => ({ 'graphql.operation.name': name?.slice(0, 256) }),
  }),
  workKind<GraphqlResolverTrace>({
    channel: 'graphql.resolver',
    form: 'part',
    span: ({ type, field }) => `resolve ${type}.${field}`,
    title: ({ type, field }) => `${type}.${field}`,
  }),
]
