import { checkOptions, OptionError, optionNames, quoted, type Request, type Response } from '../../kernel/index.ts'
import { forbiddenRouteOptions, type GraphqlRouteOptions, type ReadySchema, type SchemaSource } from './types.ts'

/** Makes the value that every resolver is handed third. */
export type ContextFunction = (exchange: { req: Request; res: Response }) => unknown

/** Options of the engine, under the names that users of Apollo know. */
export interface ApolloOptions {
  /** Whether the schema may be asked for by `__schema` and `__type`. Default: unless `NODE_ENV` is `production`. */
  introspection?: boolean
  /** Whether a request must show that no foreign page can have sent it. Default true. */
  csrfPrevention?: boolean
  /** Makes the context of each request; may be async. Default: `{ req, res }` itself. */
  context?: ContextFunction
}

/** What a document may have at most; `false`: no limit. */
export interface GraphqlLimits {
  /** How deep fields may nest; those of the introspection are not counted. Default 15. */
  depth?: number | false
  /** Fields under a name of their own, fragments counted wherever they are spread, the introspection tenfold. Default 30. */
  aliases?: number | false
  /** Directives, counted in the same way. Default 50. */
  directives?: number | false
  /** Words and signs of the text; as many lines. Default 2000. */
  tokens?: number | false
}

/** How the cost of an operation is estimated, and what it may be. */
export interface GraphqlCost {
  /** The largest cost that is executed. Default 1000. */
  max?: number
  /** How long a list is taken to be of which neither arguments nor the schema say it. Default 10. */
  listSize?: number
  /** Arguments that say how long a list is, where `@listSize` names none. Default `first`, `last` and `limit`. */
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
  apolloOptions?: ApolloOptions
  limits?: GraphqlLimits
  /** Refuses operations that are estimated to cost too much, before they are executed. Default false. */
  cost?: boolean | GraphqlCost
  /** Whether browsers get the GraphiQL page at `GET /graphql`. Default: unless `NODE_ENV` is `production`. */
  graphiql?: boolean
  /** Compiles operations that are asked often; needs the package `graphql-jit`. Default false. */
  jit?: boolean | JitOptions
  /** Milliseconds after which a silent event stream shows that it is alive. Default 12000. */
  keepAlive?: number
  /** Options of the route itself, such as `policy`, `rateLimit` and `middlewares`. */
  route?: GraphqlRouteOptions
}

export interface Limits {
  readonly depth: number
  readonly aliases: number
  readonly directives: number
  readonly tokens: number
}

export interface CostSettings {
  readonly max: number
  readonly listSize: number
  readonly slicingArguments: readonly string[]
}

export interface GraphqlSettings {
  readonly schema: SchemaSource | ReadySchema
  readonly introspection: boolean
  readonly csrfPrevention: boolean
  readonly context: ContextFunction | undefined
  readonly limits: Limits
  /** `undefined`: no cost is counted. */
  readonly cost: CostSettings | undefined
  readonly graphiql: boolean
  /** Executions before an operation is compiled; `undefined`: none is. */
  readonly jit: number | undefined
  readonly keepAlive: number
  readonly route: GraphqlRouteOptions
}

const defaults: Limits = { depth: 15, aliases: 30, directives: 50, tokens: 2000 }

function flag(name: string, value: unknown, fallback: boolean): boolean {
  if (value === undefined) return fallback
  if (typeof value !== 'boolean') throw OptionError(`graphql.${name}`, quoted(value), 'true or false')
  return value
}

function objectOf<Option extends object>(name: string, value: Option | undefined): Option | undefined {
  if (value === undefined) return undefined
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw OptionError(`graphql.${name}`, value, 'an object')
  }
  return value
}

function whole(name: string, value: unknown, takes: string): number {
  if (!Number.isSafeInteger(value) || (value as number) < 1) throw OptionError(`graphql.${name}`, quoted(value), takes)
  return value as number
}

function limitsOf(given: GraphqlLimits = {}): Limits {
  const names = Object.keys(defaults) as (keyof Limits)[]
  objectOf('limits', given)
  checkOptions('graphql.limits', given, names)
  const limit = (name: keyof Limits): number => {
    const value = given[name]
    if (value === undefined) return defaults[name]
    return value === false
      ? Number.POSITIVE_INFINITY
      : whole(`limits.${name}`, value, 'a whole number above 0, or false')
  }
  return { depth: limit('depth'), aliases: limit('aliases'), directives: limit('directives'), tokens: limit('tokens') }
}

function costOf(given: boolean | GraphqlCost = false): CostSettings | undefined {
  if (given === false) return undefined
  if (typeof given !== 'boolean' && objectOf('cost', given) !== undefined) {
    checkOptions('graphql.cost', given, ['max', 'listSize', 'slicingArguments'])
  }
  const { max = 1000, listSize = 10, slicingArguments = ['first', 'last', 'limit'] } = given === true ? {} : given
  if (!Array.isArray(slicingArguments) || slicingArguments.some((name) => typeof name !== 'string')) {
    throw OptionError('graphql.cost.slicingArguments', slicingArguments, 'a list of names of arguments')
  }
  const number = 'a whole number above 0'
  return { max: whole('cost.max', max, number), listSize: whole('cost.listSize', listSize, number), slicingArguments }
}

function jitOf(given: boolean | JitOptions = false): number | undefined {
  if (given === false) return undefined
  if (given === true) return 3
  if (typeof given !== 'object' || given === null)
    throw OptionError('graphql.jit', given, '{ minCount }, true or false')
  checkOptions('graphql.jit', given, ['minCount'])
  return whole('jit.minCount', given.minCount ?? 3, 'a whole number above 0')
}

function routeOf(given: GraphqlRouteOptions = {}): GraphqlRouteOptions {
  objectOf('route', given)
  for (const name of forbiddenRouteOptions) {
    if (name in given)
      throw OptionError(`graphql.route.${name}`, Reflect.get(given, name), 'no value: it does not fit GraphQL')
  }
  // Those that are inherited, too: spread, they would be left out, and with them a guard.
  return Object.fromEntries(optionNames(given).map((name) => [name, Reflect.get(given, name) as unknown]))
}

/** Whether a schema was given ready, as an instance of whichever copy of the package. */
export function isReady(schema: object): schema is ReadySchema {
  return typeof (schema as Partial<ReadySchema>).getQueryType === 'function'
}

function isSdl(value: unknown): boolean {
  return typeof value === 'string' || (value as { kind?: unknown } | null)?.kind === 'Document'
}

function isOneOrMany(value: unknown, is: (one: unknown) => boolean): boolean {
  return value === undefined || (Array.isArray(value) ? value.every(is) : is(value))
}

function schemaOf(schema: SchemaSource | ReadySchema = {}): SchemaSource | ReadySchema {
  objectOf('schema', schema)
  if (isReady(schema)) return schema
  checkOptions('graphql.schema', schema, ['typeDefs', 'files', 'resolvers'])
  const isText = (one: unknown) => typeof one === 'string' && one !== ''
  const isObject = (one: unknown) => typeof one === 'object' && one !== null && !Array.isArray(one)
  const checks: [name: keyof SchemaSource, is: (one: unknown) => boolean, takes: string][] = [
    ['typeDefs', isSdl, 'text in the schema language, a parsed document, or a list of them'],
    ['files', isText, 'a glob or a list of globs'],
    ['resolvers', isObject, '{ Type: { field: (parent, args, context) => value } } or a list of such objects'],
  ]
  for (const [name, is, takes] of checks) {
    if (!isOneOrMany(schema[name], is)) throw OptionError(`graphql.schema.${name}`, schema[name], takes)
  }
  return schema
}

/** The options with every default in place; a wrong one throws. */
export function settingsOf(options: GraphqlOptions): GraphqlSettings {
  checkOptions('graphql', options, [
    'schema',
    'apolloOptions',
    'limits',
    'cost',
    'graphiql',
    'jit',
    'keepAlive',
    'route',
  ])
  const apollo = objectOf('apolloOptions', options.apolloOptions) ?? {}
  checkOptions('graphql.apolloOptions', apollo, ['introspection', 'csrfPrevention', 'context'])
  const { context } = apollo
  if (context !== undefined && typeof context !== 'function') {
    throw OptionError('graphql.apolloOptions.context', context, 'a function of { req, res }')
  }
  const { keepAlive = 12_000 } = options
  if (typeof keepAlive !== 'number' || !(keepAlive > 0) || keepAlive > 2_147_483_647) {
    throw OptionError('graphql.keepAlive', quoted(keepAlive), 'milliseconds above 0')
  }
  const isOpen = process.env.NODE_ENV !== 'production'
  return {
    schema: schemaOf(options.schema),
    introspection: flag('apolloOptions.introspection', apollo.introspection, isOpen),
    csrfPrevention: flag('apolloOptions.csrfPrevention', apollo.csrfPrevention, true),
    context,
    limits: limitsOf(options.limits),
    cost: costOf(options.cost),
    graphiql: flag('graphiql', options.graphiql, isOpen),
    jit: jitOf(options.jit),
    keepAlive,
    route: routeOf(options.route),
  }
}
