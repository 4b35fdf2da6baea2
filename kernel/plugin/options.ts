import type { RouteOptions } from '../routing/options.ts'
import type { Method } from '../routing/pattern.ts'
import { isFrameworkError } from '../support/errors.ts'
import { OptionError, type OptionPlace } from '../support/options.ts'
import { isPromise } from '../support/within.ts'

/** Reads one value: the result of `option.shape`, for example, or an object of your own. */
export interface OptionReader<in Input, out Value> {
  /** Returns what a value means. Mistakes in it are noted at its place, and the result is then not used. */
  read(given: unknown, place: OptionPlace): Value
  /** The value or its default, for a listing: without secrets. */
  show?(given: unknown): unknown
  /** Exists for the type checker only. */
  readonly '~input'?: (input: Input) => void
}

/** The part of a Standard Schema that the kernel needs (https://standardschema.dev). */
interface StandardReader<Input, Output> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    validate(value: unknown): StandardResult | Promise<StandardResult>
    /** Exists for the type checker only. */
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
  }
}

interface StandardResult {
  readonly value?: unknown
  readonly issues?: readonly {
    readonly message: string
    readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
  }[]
}

/** Reads the options of a plugin: from the written form to the form that the plugin works with. */
export type OptionsReader<Input, Settings> =
  | OptionReader<Input, Settings>
  | StandardReader<Input, Settings>
  | ((input: Input, place: OptionPlace) => Settings)

/** A route whose option is read. */
export interface OptionRoute<Settings> {
  /** The method of the route. */
  readonly method: Method
  /** The path as registered, with the prefixes of its groups: `/users/:id`. */
  readonly path: string
  /** All options of the route, including those of other plugins. */
  readonly options: RouteOptions
  /** The options that the plugin was registered with, as its reader returned them. */
  readonly settings: Settings
  /** The names of all options that a route may have there. */
  readonly known: ReadonlySet<PropertyKey>
}

/** Reads one option of a route, which is never `undefined`. */
export type RouteOptionReader<Settings, Value> =
  | OptionReader<never, Value>
  | StandardReader<never, Value>
  | ((given: unknown, place: OptionPlace, route: OptionRoute<Settings>) => Value)

export function isReader(value: unknown): value is OptionsReader<unknown, unknown> {
  return typeof value === 'function' || isOptionReader(value) || standardOf(value) !== undefined
}

function isOptionReader(value: unknown): value is OptionReader<never, unknown> {
  return typeof (value as Partial<OptionReader<never, unknown>> | null)?.read === 'function'
}

function standardOf(value: unknown): StandardReader<unknown, unknown>['~standard'] | undefined {
  const standard = (value as Partial<StandardReader<unknown, unknown>> | null)?.['~standard']
  return typeof standard?.validate === 'function' ? standard : undefined
}

/**
 * Reads one value; mistakes are noted at the place. Only functions receive `more`.
 *
 * @throws the reader's error, except an OptionError, which is noted.
 */
export function readOption(reader: unknown, given: unknown, place: OptionPlace, ...more: readonly unknown[]): unknown {
  let value: unknown
  try {
    value = readBy(reader, given, place, more)
  } catch (error) {
    // A call within the reader reports its options in the same words.
    if (!(isFrameworkError(error) && error.code === OptionError.code)) throw error
    place.problem(error.message)
    return undefined
  }
  if (!isPromise(value)) return value
  // Its failure would otherwise end the process as an unhandled rejection.
  value.then(undefined, () => {})
  place.problem(`the options "${place.path}" have an asynchronous schema; it must be synchronous`)
  return undefined
}

function readBy(reader: unknown, given: unknown, place: OptionPlace, more: readonly unknown[]): unknown {
  if (isOptionReader(reader)) return reader.read(given, place)
  const standard = standardOf(reader)
  // Checked last: a schema may also be a function, whose result would be a list of problems and not the settings.
  if (standard === undefined) return (reader as Function)(given, place, ...more)
  const result = standard.validate(given)
  if (isPromise(result)) return result
  if (result.issues === undefined) return result.value
  for (const { message, path = [] } of result.issues) {
    const keys = path.map((part) => (typeof part === 'object' ? part.key : part))
    const at = keys.reduce<OptionPlace>((from, key) => from.in(typeof key === 'number' ? key : String(key)), place)
    const value = keys.reduce<unknown>((from, key) => Object(from)[key], given)
    // Some schemas repeat the given value, which may be a secret.
    const said = typeof value === 'string' ? message.replaceAll(JSON.stringify(value), 'a string (not shown)') : message
    place.problem(`the option "${at.path}": ${said}`)
  }
  if (result.issues.length === 0) place.problem(`the options "${place.path}" do not match their schema`)
  return undefined
}

/** Options for a listing. Among options without a check, only numbers and flags are shown: a string may be a secret. */
export function showOptions(reader: unknown, given: unknown): unknown {
  if (isOptionReader(reader) && reader.show !== undefined) return reader.show(given)
  if (typeof given !== 'object' || given === null) return {}
  const shown = (value: unknown) => (['number', 'boolean'].includes(typeof value) ? value : `(${typeof value})`)
  const named = Object.entries(given).filter(([, value]) => value !== undefined)
  return Object.fromEntries(named.map(([name, value]) => [name, shown(value)]))
}
