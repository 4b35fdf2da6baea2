/**
 * The checks for the options of plugins and routes: `option.int()`, `option.list(…)`.
 *
 * @example
 * const settings = option.shape({ limit: option.int({ min: 1 }).default(100), name: option.text().required() })
 * settings.parse({ name: 'a' }) // { limit: 100, name: 'a' }
 */
import {
  checkNames,
  isOptions,
  OptionError,
  type OptionPlace,
  optionNames,
  optionOf,
} from '../../../kernel/support/options.ts'
import { type AnyCheck, Check, type Need } from './check.ts'
import { parseSize, sizeTakes } from './size.ts'

/** Bounds of a number; `min` and `max` are inclusive, `above` is exclusive. */
export interface NumberBounds {
  /** The least number. */
  readonly min?: number
  /** The number that the value must be greater than. */
  readonly above?: number
  /** The greatest number. */
  readonly max?: number
  /** The unit, for messages: `seconds`. */
  readonly unit?: string
}

function numeric(kind: string, isKind: (given: unknown) => boolean, bounds: NumberBounds): Check<number, number> {
  const { min = -Infinity, above = -Infinity, max = Infinity, unit } = bounds
  return new Check({
    takes: `${unit === undefined ? kind : `${kind} of ${unit}`}${inWords(bounds)}`,
    isQuoted: true,
    fits: (given) => isKind(given) && (given as number) >= min && (given as number) > above && (given as number) <= max,
  })
}

function inWords({ min, above, max }: NumberBounds): string {
  if (above !== undefined) return max === undefined ? ` above ${above}` : ` above ${above} and up to ${max}`
  if (min !== undefined) return max === undefined ? `, ${min} or more` : ` from ${min} to ${max}`
  return max === undefined ? '' : ` up to ${max}`
}

/**
 * A whole number.
 *
 * @example
 * option.int({ min: 1, max: 1000 }).default(64)
 */
export const int = (bounds: NumberBounds = {}): Check<number, number> =>
  numeric('a whole number', Number.isSafeInteger, bounds)

/** Any finite number. */
export const number = (bounds: NumberBounds = {}): Check<number, number> => numeric('a number', Number.isFinite, bounds)

/** Milliseconds that a timer can wait: up to 2147483647, which messages mention only if it is given. */
export function ms(bounds: NumberBounds = { min: 0 }): Check<number, number> {
  // A timer accepts no more, and would fire immediately.
  const { parts } = numeric('milliseconds', Number.isFinite, { ...bounds, max: bounds.max ?? 2_147_483_647 })
  return new Check({ ...parts, takes: `milliseconds${inWords(bounds)}` })
}

/** Bytes, from a number or a string such as `'100kb'`. */
export function size(): Check<number | string, number> {
  return new Check({
    takes: sizeTakes,
    isQuoted: true,
    fits: (given) => parseSize(given) !== undefined,
    read: parseSize,
  })
}

/** `true` or `false`. Otherwise a string such as `'false'`, for example from the environment, would count as true. */
export const flag = (): Check<boolean, boolean> => oneOf(true, false)

/**
 * One of a few values.
 *
 * @example
 * option.oneOf('memory', 'redis').default('memory')
 */
export function oneOf<const Values extends readonly (string | number | boolean)[]>(
  ...values: Values
): Check<Values[number], Values[number]> {
  const words = values.map((one) => JSON.stringify(one))
  const last = words.pop()
  return new Check({
    takes: words.length === 0 ? String(last) : `${words.join(', ')} or ${last}`,
    isQuoted: true,
    fits: (given) => values.includes(given as Values[number]),
  })
}

/** A string that is not empty. No message shows a wrong one; `name` is for words that may be shown. */
export function text(pattern?: RegExp, takes = 'a non-empty string'): Check<string, string> {
  if (pattern !== undefined && !(pattern instanceof RegExp))
    throw OptionError('pattern', pattern, 'a regular expression')
  return new Check({
    takes,
    // With a global pattern, `test` would continue where the last string ended.
    fits: (given) =>
      typeof given === 'string' && given !== '' && (pattern === undefined || given.search(pattern) !== -1),
  })
}

/** A string that is not a secret by nature, such as a name or a path. Messages show it. */
export function name(pattern?: RegExp, takes?: string): Check<string, string> {
  return new Check({ ...text(pattern, takes).parts, isQuoted: true })
}

type AnyFunction = (...args: never[]) => unknown

/**
 * A function.
 *
 * @example
 * option.fn<(req: Request) => boolean>('a function (req) => boolean')
 */
export function fn<Type extends AnyFunction>(takes = 'a function'): Check<Type, Type> {
  return new Check({ takes, fits: (given) => typeof given === 'function' })
}

/** An object with these methods: a store, a client, a custom provider. */
export function having<Type extends object>(
  methods: readonly (keyof Type & string)[],
  takes: string,
): Check<Type, Type> {
  return new Check({
    takes,
    fits: (given) =>
      typeof given === 'object' &&
      given !== null &&
      methods.every((one) => typeof (given as Record<string, unknown>)[one] === 'function'),
  })
}

/**
 * Any value that passes a test function.
 *
 * @example
 * option.value<Date>('a date', (given) => given instanceof Date)
 */
export function value<Type>(takes: string, fits: (given: unknown) => boolean = () => true): Check<Type, Type> {
  return new Check({ takes, fits })
}

/**
 * Any value that a function can read; the function notes mistakes at the place.
 *
 * @example
 * option.custom<string, URL>('an address', (given, place) => {
 *   if (typeof given === 'string' && URL.canParse(given)) return new URL(given)
 *   place.wrong(given, 'an address')
 * })
 */
export function custom<Input, Value>(
  takes: string,
  read: (given: unknown, place: OptionPlace) => Value | undefined,
): Check<Input, Value> {
  return new Check({ takes, fits: () => true, read })
}

/** `false`, for a feature that can be turned off: `option.either(option.ms(), option.off())`. */
export const off = (): Check<false, false> => oneOf(false)

/**
 * A list, each element read by a check.
 *
 * @example
 * option.list(option.name()).default([])
 */
export function list<Input, Value>(
  item: Check<Input, Value, Need>,
  { min = 0 }: { readonly min?: number } = {},
): Check<readonly Input[], readonly Value[]> {
  const each = item.required()
  return new Check({
    takes: `a list${min > 0 ? ` of ${min} or more` : ''}, each ${item.takes}`,
    isQuoted: item.parts.isQuoted ?? false,
    fits: (given) => Array.isArray(given) && given.length >= min,
    // `map` skips holes, which would stay unchecked.
    read: (given: readonly unknown[], place) => Array.from(given, (one, i) => each.read(one, place.in(i))),
    show: (given: readonly unknown[]) => Array.from(given, (one) => each.show(one)),
  })
}

function showMembers(given: object, names: readonly string[], checkOf: (name: string) => AnyCheck): object {
  const shown = names.map((name) => [name, checkOf(name).show(optionOf(given, name))])
  return Object.fromEntries(shown.filter(([, value]) => value !== undefined))
}

const textsOf = (names: readonly (string | symbol)[]) => names.filter((name) => typeof name === 'string')

/** An object with any names, each value read by a check. */
export function record<Input, Value>(
  item: Check<Input, Value, Need>,
  takes = `an object, each value ${item.takes}`,
): Check<{ readonly [name: string]: Input }, { readonly [name: string]: Value }> {
  return new Check({
    takes,
    fits: isOptions,
    read(given: object, place) {
      const names = optionNames(given)
      for (const name of names) if (typeof name === 'symbol') place.unknown(String(name), [])
      return Object.fromEntries(textsOf(names).map((key) => [key, item.read(optionOf(given, key), place.in(key))]))
    },
    show: (given: object) => showMembers(given, textsOf(optionNames(given)), () => item),
  })
}

type InputOf<One> = One extends Check<infer Input, unknown, Need> ? Input : never
type ValueOf<One> = One extends Check<never, infer Value, Need> ? Value : never

/**
 * The first of several checks whose kind matches the value.
 *
 * @example
 * option.either(option.flag(), option.shape({ path: option.name().required() }))
 */
export function either<Checks extends readonly AnyCheck[]>(
  ...checks: Checks
): Check<InputOf<Checks[number]>, ValueOf<Checks[number]>> {
  return new Check({
    takes: checks.map(({ takes }) => takes).join(', or '),
    isQuoted: checks.every(({ parts }) => parts.isQuoted),
    members: checks.find(({ parts }) => parts.members !== undefined)?.parts.members,
    fits: (given) => checks.some(({ parts }) => parts.fits(given)),
    read: (given, place) => checks.find(({ parts }) => parts.fits(given))!.read(given, place),
    show: (given) => checks.find(({ parts }) => parts.fits(given))?.show(given),
  })
}

/**
 * A feature that `false` turns off, and `true` turns on with the defaults of its options.
 *
 * @example
 * option.feature(option.shape({ path: option.name().default('/queues') })).default(false)
 */
export function feature<Input, Value>(options: Check<Input, Value, 'filled'>): Check<boolean | Input, Value | false> {
  return either(flag(), options).into((given) => (given === true ? options.parse({}) : (given as Value | false)))
}

/** The checks of the members of an object, by name. */
export interface Members {
  readonly [name: string]: AnyCheck
}

type NamesOf<Fields extends Members, Which extends Need> = {
  [Name in keyof Fields]: Fields[Name] extends Check<never, unknown, infer Given>
    ? Given extends Which
      ? Name
      : never
    : never
}[keyof Fields]

type Written<Fields extends Members> = { [Name in NamesOf<Fields, 'required'>]: InputOf<Fields[Name]> } & {
  [Name in NamesOf<Fields, 'optional' | 'filled'>]?: InputOf<Fields[Name]> | undefined
}

/** The type that a user writes for an object with these members: itself optional if no member is required. */
export type ShapeInput<Fields extends Members> =
  {} extends Written<Fields> ? Written<Fields> | undefined : Written<Fields>

/** The type of the result: every member; those without a default may be `undefined`. */
export type ShapeValue<Fields extends Members> = {
  readonly [Name in keyof Fields]: Fields[Name] extends Check<never, infer Value, infer Given>
    ? Given extends 'optional'
      ? Value | undefined
      : Value
    : never
}

/** Reads a member of an object with an unknown name; the place is that of the object. */
export type OtherMember<Other> = (name: string, given: unknown, place: OptionPlace) => Other

/** The type of the result for an object that may also have other members. */
export type OpenValue<Fields extends Members, Other> = ShapeValue<Fields> & { readonly [name: string]: Other }

/**
 * An object with known members, each read by its check; any other name is an error, unless a function reads it. An omitted object
 * counts as `{}`, unless a member is required or `.required()` is called.
 *
 * @example
 * const options = option.shape({ limit: option.int({ min: 1 }).default(100), windowMs: option.ms().default(60_000) })
 * definePlugin({ name: 'limited', options, setup: (ctx, { limit, windowMs }) => {} })
 */
export function shape<Fields extends Members>(members: Fields): Check<ShapeInput<Fields>, ShapeValue<Fields>, 'filled'>
export function shape<Fields extends Members, Other>(
  members: Fields,
  other: OtherMember<Other>,
): Check<ShapeInput<Fields>, OpenValue<Fields, Other>, 'filled'>
export function shape(members: Members, other?: OtherMember<unknown>): Check<never, unknown, 'filled'> {
  const names = Object.keys(members)
  return new Check({
    takes: names.length === 0 ? 'an object' : `an object with ${names.join(', ')}`,
    need: 'filled',
    fallback: {},
    members,
    fits: isOptions,
    read(given: object, place) {
      if (other === undefined) checkNames(given, place, names)
      else for (const name of optionNames(given)) if (typeof name === 'symbol') place.unknown(String(name), names)
      const settings: Record<string, unknown> = {}
      for (const name of names)
        settings[name] = members[name]!.read(memberOf(given, name, members, place), place.in(name))
      if (other === undefined) return settings
      // Not assigned one by one: one of these names may be `__proto__`.
      const others = otherNames(given, names).map((name) => [name, other(name, optionOf(given, name), place)])
      return { ...settings, ...Object.fromEntries(others) }
    },
    // A value that a function reads may be a secret.
    show: (given: object) => showMembers(given, names, (name) => members[name]!),
  })
}

/** A member as it was given. A guard that is `undefined` comes from a wrong import, which would leave the route without it. */
function memberOf(given: object, name: string, members: Members, place: OptionPlace): unknown {
  const one = optionOf(given, name)
  const { parts, takes } = members[name]!
  if (one === undefined && parts.isGuard && optionNames(given).includes(name)) place.in(name).wrong(one, takes)
  return one
}

function otherNames(given: object, known: readonly string[]): string[] {
  return textsOf(optionNames(given)).filter((name) => !known.includes(name) && optionOf(given, name) !== undefined)
}

/**
 * Reads a route option with the same members as the options of its plugin: omitted members are those of the plugin,
 * and `false` turns off the plugin.
 *
 * @example
 * const options = option.shape({ limit: option.int().default(100) })
 * const optionsOfRoute = option.overrides(options)
 * definePlugin({ name: 'limited', options, routeOptions: { limited: optionsOfRoute } })
 */
export function overrides<Settings extends object>(plugin: Check<never, Settings, Need>) {
  const { members = {}, takes } = plugin.parts
  return (given: unknown, place: OptionPlace, route: { readonly settings: Settings }): Settings | false | undefined => {
    if (given === false) return given
    if (!isOptions(given)) return void place.wrong(given, `false, or ${takes}`)
    checkNames(given, place, Object.keys(members))
    const own = Object.entries(members).flatMap(([name, check]) => {
      const one = memberOf(given, name, members, place)
      return one === undefined ? [] : [[name, check.read(one, place.in(name))]]
    })
    return { ...route.settings, ...Object.fromEntries(own) }
  }
}
