import { isOptions, optionNames, type Request, type Response } from '../../kernel/index.ts'
import { isProduction } from '../toolkit/node-env.ts'
import { option, type SettingsOf } from '../toolkit/options/index.ts'
import { forbiddenRouteOptions, type GraphqlRouteOptions, type ReadySchema, type SchemaSource } from './types.ts'

/** Creates the third argument of every resolver. */
export type ContextFunction = (exchange: {
  req: Request
  res: Response
  /** The payload of `connection_init` from the client of a websocket. */
  connectionParams?: Readonly<Record<string, unknown>> | undefined
}) => unknown

/** Operations over a websocket. */
export interface GraphqlSocketOptions {
  /** Operations that one websocket may run at once; a further one is answered with an error. Default 100. */
  maxOperations?: number
  /** Milliseconds in which a client sends `connection_init`; later the websocket is closed with 4408. Default 3000. */
  connectionInitTimeout?: number
}

/** Options of the engine, under the names that users of Apollo know. */
export interface ApolloOptions {
  /** Whether `__schema` and `__type` may be queried. Default: unless `NODE_ENV` is `production`. */
  introspection?: boolean
  /** Whether a request must show that no foreign page can have sent it. Default true. */
  csrfPrevention?: boolean
  /** Creates the context of each request; may be async. Default: `{ req, res }` itself. */
  context?: ContextFunction
}

/** Limits of a document; `false`: no limit. */
export interface GraphqlLimits {
  /** How deep fields may nest; those of the introspection do not count. Default 15. */
  depth?: number | false
  /** How many fields may have a name of their own, fragments counted wherever they are spread, the introspection tenfold. Default 30. */
  aliases?: number | false
  /** How many directives there may be, counted in the same way. Default 50. */
  directives?: number | false
  /** How many words and signs the document may have; as many lines. Default 2000. */
  tokens?: number | false
}

/** How the cost of an operation is estimated and limited. */
export interface GraphqlCost {
  /** The largest cost that is executed. Default 1000. */
  max?: number
  /** Assumed length of a list if neither its arguments nor the schema set it. Default 10. */
  listSize?: number
  /** Arguments that set the length of a list without `@listSize`. Default `first`, `last` and `limit`. */
  slicingArguments?: readonly string[]
}

/** Options of the compiling executor. */
export interface JitOptions {
  /** How often an operation is executed before it is compiled. Default 3. */
  minCount?: number
}

/** Options of the GraphQL plugin. */
export interface GraphqlOptions {
  /** Type definitions with their resolvers, or a `GraphQLSchema`. Default: what `addTypeDef` and `addResolver` add. */
  schema?: SchemaSource | ReadySchema
  /** The `introspection`, `csrfPrevention` and `context` of the endpoint, under the names that users of Apollo Server know. */
  apolloOptions?: ApolloOptions
  /**
   * What a document may have: depth, aliases, directives and tokens. A document over one of them is answered with
   * `LIMIT_EXCEEDED` and not executed.
   */
  limits?: GraphqlLimits
  /** Refuses operations whose estimated cost is too high, before they are executed. Default false. */
  cost?: boolean | GraphqlCost
  /** Whether browsers receive the GraphiQL page at `GET /graphql`. Default: unless `NODE_ENV` is `production`. */
  graphiql?: boolean
  /** Compiles frequent operations; needs the package `graphql-jit`. Default false. */
  jit?: boolean | JitOptions
  /** Milliseconds after which a silent event stream shows that it is alive. Default 12000. */
  keepAlive?: number
  /**
   * Operations over a websocket at the same path, by the protocol of the package `graphql-ws`, which must be installed; needs the plugin
   * `websocket`. Default false.
   */
  websocket?: boolean | GraphqlSocketOptions
  /** Options of the route itself, such as `policy`, `rateLimit` and `middlewares`. */
  route?: GraphqlRouteOptions
}

const count = option.int({ min: 1 }).says('a whole number above 0')

/** The limit; `false` means no limit. */
const limit = (fallback: number) =>
  option
    .either(count, option.off())
    .says('a whole number above 0, or false')
    .into((given) => (given === false ? Number.POSITIVE_INFINITY : given))
    .default(fallback)

const limits = option.shape({ depth: limit(15), aliases: limit(30), directives: limit(50), tokens: limit(2000) })

const cost = option.shape({
  max: count.default(1000),
  listSize: count.default(10),
  slicingArguments: option.list(option.name()).says('a list of names of arguments').default(['first', 'last', 'limit']),
})
const costDefaults = cost.parse({}, 'cost')

const jit = option.shape({ minCount: count.default(3) })
const jitDefaults = jit.parse({}, 'jit')

const socket = option.shape({
  maxOperations: count.default(100),
  connectionInitTimeout: option.ms({ above: 0 }).default(3000),
})
const socketDefaults = socket.parse({}, 'websocket')

const route = option
  .custom<GraphqlRouteOptions, GraphqlRouteOptions>('an object', (given, place) => {
    if (!isOptions(given)) return void place.wrong(given, 'an object')
    for (const name of forbiddenRouteOptions) {
      if (name in given) place.in(name).wrong(Reflect.get(given, name), 'no value: it is not valid in GraphQL')
    }
    // Inherited ones, too: a spread would leave them out, and with them a guard.
    return Object.fromEntries(optionNames(given).map((name) => [name, Reflect.get(given, name) as unknown]))
  })
  .default({})
  .guard()

/** Whether a ready schema was given, as an instance of any copy of the package. */
export function isReady(schema: object): schema is ReadySchema {
  return typeof (schema as Partial<ReadySchema>).getQueryType === 'function'
}

/** One of them, or a list. */
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
    cost: option.either(option.flag(), cost).default(false),
    graphiql: option.flag(),
    jit: option.either(option.flag(), jit).says('{ minCount }, true or false').default(false),
    keepAlive: option.ms({ above: 0 }).default(12_000),
    websocket: option
      .either(option.flag(), socket)
      .says('{ maxOperations, connectionInitTimeout }, true or false')
      .default(false),
    route,
  })
  .into(({ apolloOptions, cost, jit, ...given }) => {
    const isOpen = !isProduction()
    const { introspection = isOpen, csrfPrevention, context } = apolloOptions
    return {
      ...given,
      introspection,
      csrfPrevention,
      context,
      /** `undefined`: costs are not computed. */
      cost: cost === false ? undefined : cost === true ? costDefaults : cost,
      graphiql: given.graphiql ?? isOpen,
      /** `undefined`: no websockets. */
      websocket: given.websocket === false ? undefined : given.websocket === true ? socketDefaults : given.websocket,
      /** Executions before an operation is compiled; `undefined`: operations are not compiled. */
      jit: jit === false ? undefined : jit === true ? jitDefaults.minCount : jit.minCount,
    }
  })
  .typed<GraphqlOptions>()

export type GraphqlSettings = SettingsOf<typeof graphqlOptions>
export type Limits = GraphqlSettings['limits']
export type SocketSettings = NonNullable<GraphqlSettings['websocket']>
export type CostSettings = NonNullable<GraphqlSettings['cost']>
