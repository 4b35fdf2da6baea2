import { defineErrors, OptionError, quoted } from '../../kernel/index.ts'
import type { GraphqlResolvers, GraphqlTypeResolvers, ReadySchema } from './types.ts'

export const { GraphqlSchemaBuiltError, GraphqlNotReadyError } = defineErrors({
  GraphqlSchemaBuiltError: (call: string) =>
    `${call} comes too late: the schema was built at the first request. Call it earlier, for example right after new Server(…)`,
  GraphqlNotReadyError: () =>
    'the GraphQL schema does not exist before the server is ready. Call await server.ready() first',
})

/** Builds the schema from all additions, once the required packages are loaded. */
export type BuildSchema = (typeDefs: readonly string[], resolvers: readonly GraphqlResolvers[]) => ReadySchema

/**
 * The GraphQL schema of a server, available as `server.graphql`: it can be extended until the first request, then it is fixed.
 *
 * @example
 * server.graphql.addTypeDef('type Query { version: String! }').addResolver('Query', { version: () => '1.4.2' })
 */
export class GraphqlService {
  readonly #typeDefs: string[] = []
  readonly #resolvers: GraphqlResolvers[] = []
  #build: BuildSchema | undefined
  #built: { readonly schema: ReadySchema } | { readonly error: unknown } | undefined

  /**
   * Adds type definitions. A type that already exists gains the fields.
   *
   * @throws GraphqlSchemaBuiltError after the first request.
   * @example
   * server.graphql.addTypeDef('type Query { hello: String }').addResolver('Query', { hello: () => 'world' })
   */
  addTypeDef(typeDefs: string): this {
    if (typeof typeDefs !== 'string') throw OptionError('addTypeDef', typeDefs, 'text in the schema language')
    if (this.#built !== undefined) throw GraphqlSchemaBuiltError('addTypeDef')
    this.#typeDefs.push(typeDefs)
    return this
  }

  /**
   * Adds resolvers for one type.
   *
   * @throws GraphqlSchemaBuiltError after the first request.
   * @example
   * server.graphql.addResolver('Shop', { items: (shop: { id: string }) => [`first of ${shop.id}`] })
   */
  addResolver(typeName: string, resolvers: GraphqlTypeResolvers): this {
    if (typeof typeName !== 'string' || typeName === '')
      throw OptionError('addResolver', quoted(typeName), 'the name of a type')
    if (typeof resolvers !== 'object' || resolvers === null) {
      throw OptionError(`addResolver("${typeName}")`, resolvers, '{ field: (parent, args, context) => value }')
    }
    if (this.#built !== undefined) throw GraphqlSchemaBuiltError(`addResolver("${typeName}")`)
    this.#resolvers.push({ [typeName]: resolvers })
    return this
  }

  /**
   * The `GraphQLSchema`. Reading it builds the schema if necessary; later additions then throw.
   *
   * @throws GraphqlNotReadyError before boot; the error of an invalid schema, each time.
   */
  get schema(): ReadySchema {
    if (this.#build === undefined) throw GraphqlNotReadyError()
    if (this.#built === undefined) {
      try {
        this.#built = { schema: this.#build(this.#typeDefs, this.#resolvers) }
      } catch (error) {
        this.#built = { error }
      }
    }
    if ('error' in this.#built) throw this.#built.error
    return this.#built.schema
  }

  /** Receives the function that builds the schema, during boot. @internal */
  supply(build: BuildSchema): void {
    this.#build = build
  }
}
