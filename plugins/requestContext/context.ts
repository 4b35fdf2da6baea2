import { described, type OptionPlace, type Request } from '../../kernel/index.ts'

/**
 * The keys of `req.context` and `currentContext()`; applications merge their own into this interface.
 *
 * @example
 * declare module 'framework' {
 *   interface RequestContext {
 *     tenant: string | undefined
 *   }
 * }
 */
// biome-ignore lint/suspicious/noEmptyInterface: open for merging
export interface RequestContext {}

/** The options of the plugin: for each key, a function that creates its value when it is first read. */
export type ContextValues = { readonly [Key in keyof RequestContext]?: (req: Request) => RequestContext[Key] } & {
  readonly [key: string]: (req: Request) => unknown
}

/** Creates the context of one request. */
export type ContextClass = new (req: Request) => RequestContext

/**
 * Makes a class with an accessor for each key. A value is created when it is first read, and then kept; `undefined` is not kept, so
 * that reading too early, before a middleware has authenticated the client, does no harm.
 */
export function contextClass(makers: ContextValues, place: OptionPlace): ContextClass {
  class Context {
    readonly #req: Request
    readonly #values: Record<string, unknown> = Object.create(null)

    constructor(req: Request) {
      this.#req = req
    }

    /** All values, created now: otherwise a log line or a response would not include the accessors of a class. */
    toJSON(): Record<string, unknown> {
      const own = Object.entries(this)
      return Object.fromEntries([...own, ...Object.keys(makers).map((key) => [key, Reflect.get(this, key)] as const)])
    }

    static {
      for (const [key, make] of Object.entries(makers)) {
        // Such keys would replace members that every object has: `constructor`, `toString`.
        if (key in Context.prototype) place.in(key).wrong(described('a name that every object has'), 'another')
        Object.defineProperty(Context.prototype, key, {
          enumerable: true,
          get(this: Context) {
            if (this.#values[key] === undefined) this.#values[key] = make(this.#req)
            return this.#values[key]
          },
          set(this: Context, value: unknown) {
            this.#values[key] = value
          },
        })
      }
    }
  }
  // The accessors are the members that the application has merged into the interface.
  return Context as unknown as ContextClass
}
