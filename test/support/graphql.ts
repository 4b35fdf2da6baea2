import { RouteCollection, Server } from 'framework'
import type { GraphqlOptions } from 'framework/plugins/graphql'
import { type Entry, memoryLogger } from './kernel.ts'

/** A response as tests compare it. */
export interface Answer {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: any content of a response
  body: any
  headers: Record<string, unknown>
}

/** A server with GraphQL, and functions that send requests to it without a socket. */
export interface GraphqlApp {
  server: Server
  log: Entry[]
  post(body: unknown, headers?: Record<string, string>): Promise<Answer>
  get(query: Record<string, string | string[]>, headers?: Record<string, string>): Promise<Answer>
}

export function graphqlApp(options: GraphqlOptions, serverOptions: object = {}): GraphqlApp {
  const logger = memoryLogger()
  const server = new Server({
    router: new RouteCollection(),
    port: 0,
    host: '127.0.0.1',
    drainWindow: 0,
    gracefulShutdown: false,
    logger,
    ...serverOptions,
    graphql: options,
  } as object) as unknown as Server
  const answerOf = (res: Awaited<ReturnType<typeof server.inject.get>>): Answer => ({
    status: res.statusCode(),
    body: res.body(),
    headers: res.headers(),
  })
  return {
    server,
    log: logger.entries,
    post: async (body, headers = {}) =>
      answerOf(await server.inject.post('/graphql', { body: body as object, headers })),
    get: async (query, headers = { 'graphql-require-preflight': '1' }) =>
      answerOf(await server.inject.get('/graphql', { query: query as Record<string, string>, headers })),
  }
}

/** A schema with a field of every kind. */
export const exampleSchema = {
  typeDefs: `
    type Query {
      hello(name: String = "world"): String!
      numbers: [Int!]!
      self: Query!
      item(id: ID!): Item
      later: String
      fails: String
      refuses: String
      nothing: String!
      search: [Found!]!
      echo(input: Input): String
      color(of: Color): Color
    }
    input Input { text: String! list: [Int] }
    enum Color { RED GREEN }
    interface Named { name: String! }
    type Item implements Named { id: ID! name: String! owner: Item broken: String! }
    type Other { size: Int }
    union Found = Item | Other
    type Mutation { set(to: Int!): Int }
  `,
  resolvers: {
    Query: {
      hello: (_: unknown, { name }: { name?: string }) => `hello ${name}`,
      numbers: () => [1, 2, 3],
      self: () => ({}),
      item: (_: unknown, { id }: { id?: string }) => ({ id, name: `item ${id}`, owner: { id: 'o', name: 'owner' } }),
      later: async () => 'later',
      fails: () => {
        throw new Error('the password is 1234')
      },
      nothing: () => null,
      search: () => [
        { __typename: 'Item', id: '1', name: 'found' },
        { __typename: 'Other', size: 3 },
      ],
      echo: (_: unknown, { input }: { input?: { text?: string } }) => JSON.stringify(input ?? null),
      color: (_: unknown, { of }: { of?: string }) => of,
    },
    Item: { broken: () => Promise.reject(new Error('broken in secret')) },
    Mutation: { set: (_: unknown, { to }: { to?: number }) => to },
  },
}
