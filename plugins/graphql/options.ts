import { isOptions, optionNames, type Request, type Response, type RouteOptions } from '../../kernel/index.ts'
import { isProduction } from '../shared/environment/node-env.ts'
import { option, type SettingsOf } from '../shared/options/index.ts'
import type { ReadySchema, SchemaSource } from './types.ts'

/** Creates the third argument of every resolver. */
export type ContextFunction = (exchange: {
  req: Request
  res: Response
  /** The payload of the `connection_init` message, from the client of a websocket. */
  connectionParams?: Readonly<Record<string, unknown>> | undefined
}) => unknown

/** Options of operations over a websocket. */
export interface GraphqlSocketOptions {
  /** How many operations one websocket may run at the same time; a further one gets an error. Default 100. */
  maxOperations?: number
  /** Milliseconds within which a client must send `connection_init`; otherwise the websocket is closed with 4408. Default 3000. */
  connectionInitTimeout?: number
}

/** Options of the engine, with the names that they have in Apollo Server. */
export interface ApolloOptions {
  /** Whether `__schema` and `__type` may be queried. Default: unless `NODE_ENV` is `production`. */
  introspection?: boolean
  /** Whether a request must prove that it cannot come from a page of another origin. Default true. */
  csrfPrevention?: boolean
  /** Creates the context of each request; may be async. Default: `{ req, res }` itself. */
  context?: ContextFunction
}

/** Limits of a document; `false`: no limit. */
export interface GraphqlLimits {
  /** How deep fields may nest; introspection fields do not count. Default 15. */
  depth?: number | false
  /** Maximum number of aliases. Fragments count wherever they are spread, aliases of lists in the introspection tenfold. Default 30. */
  aliases?: number | false
  /** Maximum number of directives; fragments count wherever they are spread. Default 50. */
  directives?: number | false
  /** Maximum number of tokens (words and punctuation) in the document, and of its lines. Default 2000. */
  tokens?: number | false
}

/** How the cost of an operation is estimated and limited. */
export interface GraphqlCost {
  /** The largest cost that is executed. Default 1000. */
  max?: number
  /** The assumed length of a list if neither its arguments nor the schema determine it. Default 10. */
  listSize?: number
  /** Arguments that determine the length of a list without `@listSize`. Default `first`, `last` and `limit`. */
  slicingArguments?: readonly string[]
}

/** Options of the executor that compiles operations. */
export interface JitOptions {
  /** The number of executions of an operation before it is compiled. Default 3. */
  minCount?: number
}

/** Options of the route `/graphql`, without those that have no meaning there. */
export type GraphqlRouteOptions = Omit<RouteOptions, ForbiddenRouteOption>

/** Route options that would break the responses of the plugin. */
const forbiddenRouteOptions = ['body', 'query', 'headers', 'params', 'all', 'responses', 'cache', 'upload'] as const
type ForbiddenRouteOption = (typeof forbiddenRouteOptions)[number]

/** Options of the GraphQL plugin. */
export interface GraphqlOptions {
  /** Type definitions with their resolvers, or a `GraphQLSchema`. Default: what `addTypeDef` and `addResolver` add. */
  schema?: SchemaSource | ReadySchema
  /** The options `introspection`, `csrfPrevention` and `context`, with the names that they have in Apollo Server. */
  apolloOptions?: ApolloOptions
  /**
   * Limits of a document: depth, aliases, directives and tokens. A document that exceeds one of them gets
   * `LIMIT_EXCEEDED` and not executed.
   */
  limits?: GraphqlLimits
  /** Refuses operations whose estimated cost is too high, before they are executed. Default false. */
  cost?: boolean | GraphqlCost
  /** Whether browsers receive the GraphiQL page at `GET /graphql`. Default: unless `NODE_ENV` is `production`. */
  graphiql?: boolean
  /** Compiles frequent operations; needs the package `graphql-jit`. Default false. */
  jit?: boolean | JitOptions
  /** Milliseconds between the comments that keep an event stream open. Default 12000. */
  keepAlive?: number
  /**
   * Whether operations are also accepted over a websocket at the same path, with the protocol of the package `graphql-ws`, which must be
   * installed; needs the plugin `websocket`. Default false.
   */
  websocket?: boolean | GraphqlSocketOptions
  /** Options of the route itself, such as `policy`, `rateLimit` and `middlewares`. */
  route?: GraphqlRouteOptions
}

const count = option.int({ min: 1 }).says('a whole number above 0')

/** Makes the option of a limit; `false` means no limit. */
const limit = (fallback: number) =>
  option
    .either(count, option.off())
    .says('a whole number above 0, or false')
    .into((given) => (given === false ? Number.POSITIVE_INFINITY : given))
    .default(fallback)

const limits = option.shape({ depth: limit(15), aliases: limit(30), directives: limit(50), tokens: limit(2000) })

/** Makes the option of a feature that is off by default; `true` turns it on with the defaults of its own options. */
function feature<Fields extends option.Members>(members: Fields) {
  const own = option.shape(members)
  const defaults = own.parse({})
  return option
    .either(option.flag(), own)
    .into((given) => (given === false ? undefined : given === true ? defaults : given))
    .default(false)
}

const cost = feature({
  max: count.default(1000),
  listSize: count.default(10),
  slicingArguments: option.list(option.name()).says('a list of names of arguments').default(['first', 'last', 'limit']),
})

const socket = feature({
  maxOperations: count.default(100),
  connectionInitTimeout: option.ms({ above: 0 }).default(3000),
})

const route = option
  .custom<GraphqlRouteOptions, GraphqlRouteOptions>('an object', (given, place) => {
    if (!isOptions(given)) return void place.wrong(given, 'an object')
    for (const name of forbiddenRouteOptions) {
      if (name in given) place.in(name).wrong(Reflect.get(given, name), 'no value: it is not valid in GraphQL')
    }
    // Includes inherited options: a spread would drop them, and perhaps a guard with them.
    return Object.fromEntries(optionNames(given).map((name) => [name, Reflect.get(given, name) as unknown]))
  })
  .default({})
  .guard()

/** Whether a schema is ready: an instance of `GraphQLSchema` from any copy of the package. */
export function isReady(schema: object): schema is ReadySchema {
  return typeof (schema as Partial<ReadySchema>).getQueryType === 'function'
}

/** Makes the option of one value or a list of such values. */
function oneOrMany<Type>(takes: string, isOne: (one: unknown) => boolean) {
  return option.value<Type>(takes, (given) => (Array.isArray(given) ? [...given].every(isOne) : isOne(given)))
}

const schema = option.either(
  option.value<ReadySchema>('a GraphQLSchema', (given) => isReady(Object(given))),
  option
    .shape({
      typeDefs: oneOrMany<NonNullable<SchemaSource['typeDefs']>>(
        'text in the schema language, a parsed document, or a list of them',
        (one) => typeof one === 'string' || Object(one).kind === 'Document',
      ),
      files: oneOrMany<NonNullable<SchemaSource['files']>>(
        'a glob or a list of globs',
        (one) => typeof one === 'string' && one !== '',
      ),
      resolvers: oneOrMany<NonNullable<SchemaSource['resolvers']>>(
        '{ Type: { field: (parent, args, context) => value } } or a list of such objects',
        isOptions,
      ),
    })
    .typed<SchemaSource>(),
)

export const graphqlOptions = option
  .shape({
    schema: schema.default({}),
    apolloOptions: option
      .shape({
        introspection: option.flag(),
        csrfPrevention: option.flag().default(true),
        context: option.fn<ContextFunction>('a function of { req, res }'),
      })
      .typed<ApolloOptions>(),
    limits,
    /** `undefined`: costs are not computed. */
    cost,
    graphiql: option.flag(),
    jit: feature({ minCount: count.default(3) }).says('{ minCount }, true or false'),
    keepAlive: option.ms({ above: 0 }).default(12_000),
    /** `undefined`: no websockets. */
    websocket: socket.says('{ maxOperations, connectionInitTimeout }, true or false'),
    route,
  })
  .into(({ apolloOptions, jit, ...given }) => {
    const isOpen = !isProduction()
    const { introspection = isOpen, ...apollo } = apolloOptions
    return {
      ...given,
      ...apollo,
      introspection,
      graphiql: given.graphiql ?? isOpen,
      /** The number of executions before an operation is compiled; `undefined`: operations are not compiled. */
      jit: jit?.minCount,
    }
  })
  .typed<GraphqlOptions>()

export type GraphqlSettings = SettingsOf<typeof graphqlOptions>
export type Limits = GraphqlSettings['limits']
export type SocketSettings = NonNullable<GraphqlSettings['websocket']>
export type CostSettings = NonNullable<GraphqlSettings['cost']>
