import type { Middleware, RouteOptions } from '../../../kernel/index.ts'

/**
 * Conditions by name, all of which a request must meet. The list has what one of them accepts, so that a longer list lets more requests in;
 * it is empty if nothing can be chosen.
 */
export interface AccessConditions {
  readonly [name: string]: readonly string[]
}

/** What a plugin asks of the requests for one way in. */
export interface AccessDemands {
  /** How the caller must identify itself. */
  readonly credential?: {
    /** Whether it must be there, as in the route option `auth`. */
    readonly mode: 'required' | 'optional' | false
    /** The accepted schemes, in the order in which they are tried. */
    readonly schemes?: readonly string[]
    /** What it must allow. */
    readonly scopes?: readonly string[]
  }
  /** What else must hold: `{ 'policy site.admin': [] }`, `{ addresses: ['10.0.0.0/8'] }`. */
  readonly conditions?: AccessConditions
  /** What limits requests without deciding who may send them: `100 in 60 s`. */
  readonly limit?: string
  /** Ways in within this one, such as the channels of a websocket, with the conditions that they have in addition. */
  readonly parts?: { readonly [name: string]: AccessConditions }
}

/** A way in, for a plugin that guards it. */
export interface GuardedWay {
  /** The method: `GET`. */
  readonly method: string
  /** The path with its prefixes: `/users/:id`. */
  readonly path: string
  /** All options of the route; `undefined` where no route matches, as for a file. */
  readonly options: RouteOptions | undefined
  /** The options of the plugin, as its reader returned them. */
  readonly settings: unknown
}

/** A way in that is not a route. */
export interface AccessWay {
  /** What it is for: `GET`, `PUT`, or a word such as `PORT`. */
  readonly method: string
  /** The path below the prefix of the plugin, such as `/files/*`. */
  readonly path: string
  /** The conditions of the plugin itself. */
  readonly conditions?: AccessConditions
  /**
   * Which middlewares run before it: `'all'` of the plugin's scope, as for a fallback; those `'before'` the plugin's own, which then responds;
   * `'none'`, as on a port of its own. Default `'all'`.
   */
  readonly after?: 'all' | 'before' | 'none'
  /** @internal The options of a route that plugins treat it like. */
  readonly options?: RouteOptions
}

/** The ways in of a plugin and what it asks of requests, as data. */
export interface PluginAccess {
  /**
   * Whether `setup` adds routes. If so, `framework access` runs it, without ready and listen hooks and with stand-ins for the services that
   * other plugins open; its middlewares are listed as not visible unless `guards` describes them. Otherwise the data here is complete, and
   * `setup` does not run. Default false.
   */
  readonly routes?: boolean
  /** What the plugin asks of requests for a way in that its middlewares reach. */
  guards?(way: GuardedWay): AccessDemands | undefined
  /** The ways in that are not routes, for these settings. */
  ways?(settings: never): readonly AccessWay[]
}

declare module '../../../kernel/plugin/define.ts' {
  interface PluginData {
    /**
     * Who can reach what through this plugin, for `framework access`; `false` if it has no ways in and guards none. Without this member, what
     * the plugin adds is listed as not visible, and a plugin that talks to other servers (`health`, `memory`) is not looked into.
     */
    readonly access?: false | PluginAccess
  }
}

/** Marks middlewares of plugins; `Symbol.for`, because the command line may have another copy of this package. */
const mark = Symbol.for('framework.conditions')

/** Notes what a middleware of a plugin asks of requests. */
export const markConditions = (middleware: Middleware, conditions: AccessConditions): Middleware =>
  Object.defineProperty(middleware, mark, { value: conditions })

/** What a marked middleware asks of requests; `undefined` for any other. */
export const conditionsOf = (middleware: Middleware): AccessConditions | undefined =>
  (middleware as { readonly [mark]?: AccessConditions })[mark]
