import { defineError, OptionError, quoted } from '../../kernel/index.ts'
import type { GraphqlResolvers, GraphqlTypeResolvers, ReadySchema } from './types.ts'

export const GraphqlSchemaBuiltError = defineError(
  'GraphqlSchemaBuiltError',
  500,
  (call: string) =>
    `${call} comes too late: the schema was built at the first request. Call it earlier, for example right after new Server(…)`,
)
export const GraphqlNotReadyError = defineError(
  'GraphqlNotReadyError',
  500,
  () => 'the GraphQL schema does not exist before the server is ready. Call await server.ready() first',
)

/** Builds the schema of all additions, once the packages for it are loaded. */
export type BuildSchema = (typeDefs: readonly string[], resolvers: readonly GraphqlResolvers[]) => ReadySchema

/**
 * The schema of a server: grows until the first request, then stays. At `server.graphql`.
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
   * Adds type definitions; an existing type gains the fields too.
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
   * Adds resolvers of one type.
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
   * The `GraphQLSchema`. Builds it if necessary; later additions throw.
   *
   * @throws GraphqlNotReadyError before boot; the mistake in the schema, each time.
   */
  get schema(): ReadySchema {
    if (this.#build === undefined) throw GraphqlNotReadyError()
    this.#built ??= this.#tryToBuild(this.#build)
    if ('error' in this.#built) throw this.#built.error
    return this.#built.schema
  }

  /** The schema where a request has built it: who looks must not keep others from adding to it. @internal */
  get built(): ReadySchema | undefined {
    return this.#built !== undefined && 'schema' in this.#built ? this.#built.schema : undefined
  }

  /** Hands over what makes the schema, during boot. @internal */
  supply(build: BuildSchema): void {
    this.#build = build
  }

  #tryToBuild(build: BuildSchema): { schema: ReadySchema } | { error: unknown } {
    try {
      return { schema: build(this.#typeDefs, this.#resolvers) }
    } catch (error) {
      return { error }
    }
  }
}
