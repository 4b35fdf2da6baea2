import { type Serialize, toJson } from '../http/response/json.ts'
import type { ErrorHandler } from '../plugin/hooks.ts'
import type { Hook, PluginEntry, Scope } from '../plugin/scope.ts'
import { DuplicateRouteError, RouteCollection, type RouteRecord } from '../routing/collection.ts'
import type { Shape } from '../routing/pattern.ts'
import { Route, type Step } from '../routing/route.ts'
import { RouteTable } from '../routing/table.ts'
import type { AddRoute } from '../routing/verbs.ts'
import { defineErrors, messageOf } from '../support/errors.ts'
import type { Logger, LoggerOwner } from '../support/logger.ts'
import { isPromise } from '../support/within.ts'
import type { Terminal } from './chain.ts'
import type { AbsentPlugin, IdleOption, ParsedOptions } from './route-options.ts'
import { placeOf, readRouteOptions, reportIdle } from './route-options.ts'
import { tracedSteps, tracedTerminal } from './traces.ts'

export const { RouteCompileError } = defineErrors({
  RouteCompileError: (route: string, place: string, plugin: string, why: string) =>
    `${route} cannot be compiled: ${why} (plugin "${plugin}"). It is registered at ${place}`,
})

/** Everything that a request needs once its route is known, decided before the first request. */
export interface CompiledRoute {
  readonly method: string
  readonly path: string | undefined
  /** The plugin and the scope that the handler belongs to. */
  readonly plugin: string
  readonly home: Scope
  readonly steps: readonly Step[]
  readonly terminal: Terminal
  readonly serialize: Serialize
  readonly values?: ReadonlyMap<object, unknown>
  readonly onSend: readonly Hook<'onSend'>[]
  readonly onResponse: readonly Hook<'onResponse'>[]
  readonly onError: readonly Hook<'onError'>[]
  /** The error handler, looked up when something fails: `server.setErrorHandler` works at any time. */
  errorHandler(): ErrorHandler | undefined
}

/** A chain without a route: the middlewares of a scope, then a terminal of the kernel. */
export function compiledMiss(scope: Scope, terminal: Terminal): CompiledRoute {
  const steps = tracedSteps(scope.middlewaresReaching)
  return compiledIn(scope, { method: '', path: undefined, plugin: 'kernel', steps, terminal, serialize: toJson })
}

function compiledIn(
  scope: Scope,
  route: Omit<CompiledRoute, 'home' | 'onSend' | 'onResponse' | 'onError' | 'errorHandler'>,
): CompiledRoute {
  const contexts = scope.hooksReaching('onLate')
  /** `at`: which of the arguments is the request. */
  const within = <Run extends (...args: never[]) => unknown>(run: Run, at = 0): Run => {
    const enter = (inner: Run, { run }: Hook<'onLate'>) => ((...args) => run(args[at]!, () => inner(...args))) as Run
    return contexts.reduceRight(enter, run)
  }
  const late = <Name extends 'onSend' | 'onResponse' | 'onError'>(name: Name, at?: number): Hook<Name>[] =>
    scope.hooksReaching(name).map((hook) => (contexts.length === 0 ? hook : { ...hook, run: within(hook.run, at) }))
  return {
    ...route,
    home: scope,
    onSend: late('onSend'),
    onResponse: late('onResponse'),
    onError: late('onError', 1),
    errorHandler: () => scope.nearestErrorHandler && within(scope.nearestErrorHandler),
  }
}

/** `read` receives the names of the options that plugins read without declaring them. */
function compileRoute(
  record: RouteRecord,
  owner: PluginEntry | undefined,
  scope: Scope,
  parsed: ParsedOptions,
  read: Set<PropertyKey>,
): CompiledRoute {
  const { method, path } = record
  const plugin = owner?.name ?? 'application'
  const route = new Route(record, scope.middlewaresReaching, plugin)
  for (const { run, entry } of scope.hooksReaching('onRoute')) {
    try {
      const names = route.extend(
        { plugin: entry.name, scope: entry.scope.name, settings: parsed.get(entry) ?? {} },
        (one) => mustBeSynchronous(run(one)),
      )
      if (entry.definition.routeOptions === undefined) for (const name of names) read.add(name)
    } catch (error) {
      const failure = RouteCompileError(`${method} ${path}`, placeOf(record, owner), entry.name, messageOf(error))
      throw Object.assign(failure, { cause: error })
    }
  }
  return compiledIn(scope, {
    ...{ method, path, plugin },
    steps: tracedSteps(route.seal(), plugin),
    terminal: tracedTerminal(record.handler as unknown as Terminal, plugin),
    serialize: route.serializer ?? toJson,
    values: route.values,
  })
}

/** An async hook would add its steps, including guards, after the chain is complete; its failure would end the process. */
function mustBeSynchronous(returned: unknown): void {
  if (!isPromise(returned)) return
  returned.then(undefined, () => {})
  throw new Error('an onRoute hook must be synchronous, but this one returned a promise. Await what it needs in setup')
}

/**
 * The compiled routes of one server: the mounted collection and the server's own, each in its own list.
 *
 * A request compares two version numbers; after a change the table is rebuilt, and only new routes are compiled.
 */
export class CompiledRoutes {
  readonly #mounted: RouteCollection
  readonly #own = new RouteCollection()
  readonly #owners = new Map<RouteRecord, PluginEntry>()
  readonly #root: Scope
  readonly #compiled = new WeakMap<RouteRecord, CompiledRoute>()
  readonly #absent: (option: string) => AbsentPlugin | undefined
  #mountedVersion = -1
  #ownVersion = -1
  #table = new RouteTable<CompiledRoute>()
  #records: { readonly version: string; readonly list: readonly RouteRecord[] } | undefined

  constructor(mounted: RouteCollection, root: Scope, absent: (option: string) => AbsentPlugin | undefined) {
    this.#absent = absent
    this.#mounted = mounted
    this.#root = root
  }

  /** Adds one of the server's own routes, for a plugin or for the application. */
  add(owner: PluginEntry | undefined, ...route: AddRoute): void {
    const record = this.#own.add(...route)
    if (owner !== undefined) this.#owners.set(record, owner)
  }

  /** Compiles everything and throws the first failure. For boot. */
  compile(logger: Logger): void {
    this.#build(logger, (error) => {
      throw error
    })
  }

  /** The current table. A faulty route that was added after boot is left out and logged. */
  current(server: LoggerOwner): RouteTable<CompiledRoute> {
    if (this.#mountedVersion !== this.#mounted.version || this.#ownVersion !== this.#own.version) {
      const logger = server.safeLogger
      this.#build(logger, (error) => logger.error({ err: error }, 'a route was registered after boot and is ignored'))
    }
    return this.#table
  }

  /** The compiled form of a route; `undefined` before boot. */
  compiledFrom(record: RouteRecord): CompiledRoute | undefined {
    return this.#compiled.get(record)
  }

  /** The routes as declared, the server's own first, as the same list until they change; with a logger, only those that are served. */
  records(logger: Logger | undefined): readonly RouteRecord[] {
    if (logger !== undefined) this.current({ safeLogger: logger })
    const version = `${this.#own.version} ${this.#mounted.version} ${logger !== undefined}`
    if (this.#records?.version !== version) {
      const all = [...shapesOf([...this.#own.routes, ...this.#mounted.routes]).keys()]
      this.#records = { version, list: logger === undefined ? all : all.filter((record) => this.#compiled.has(record)) }
    }
    return this.#records.list
  }

  /** The plugin that registered a route; `undefined` for the application. */
  ownerOf(record: RouteRecord): PluginEntry | undefined {
    return this.#owners.get(record)
  }

  #build(logger: Logger, failed: (error: unknown) => void): void {
    const idle: IdleOption[] = []
    const table = new RouteTable<CompiledRoute>()
    for (const [record, shapes] of shapesOf([...this.#own.routes, ...this.#mounted.routes], failed)) {
      try {
        let compiled = this.#compiled.get(record)
        if (compiled === undefined) {
          const owner = this.#owners.get(record)
          const scope = owner?.scope ?? this.#root
          const { parsed, check } = readRouteOptions(record, owner, scope, this.#absent)
          const read = new Set<PropertyKey>()
          compiled = compileRoute(record, owner, scope, parsed, read)
          idle.push(...check(read))
          this.#compiled.set(record, compiled)
        }
        table.add({ method: record.method, shapes }, compiled)
      } catch (error) {
        failed(error)
      }
    }
    reportIdle(idle, logger)
    this.#table = table
    this.#mountedVersion = this.#mounted.version
    this.#ownVersion = this.#own.version
  }
}

/**
 * The shapes that each record answers: a route for one method takes precedence over those of `any`. Each collection refuses its own
 * duplicates; here, duplicates between the server's own routes and the mounted ones are found.
 */
function shapesOf(
  records: readonly RouteRecord[],
  failed: (error: unknown) => void = () => {},
): Map<RouteRecord, readonly Shape[]> {
  const taken = new Map<string, RouteRecord>()
  const left = new Set<RouteRecord>()
  for (const record of records) {
    const keys = record.shapes.map(({ key }) => `${record.method} ${key}`)
    const same = keys.map((key) => taken.get(key)).find((one) => one?.isAny === record.isAny)
    if (same !== undefined) {
      left.add(record)
      failed(DuplicateRouteError(record, same))
      continue
    }
    for (const key of keys) if (!record.isAny || !taken.has(key)) taken.set(key, record)
  }
  const answered = records
    .filter((record) => !left.has(record))
    .map((record) => {
      const shapes = record.shapes.filter(({ key }) => taken.get(`${record.method} ${key}`) === record)
      return [record, shapes] as const
    })
  return new Map(answered.filter(([, shapes]) => shapes.length > 0))
}
