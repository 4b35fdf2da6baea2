import { defineError, FrameworkError } from './errors.ts'
import { didYouMean } from './nearest.ts'

/**
 * One option that is wrong, for an argument that is read immediately; {@link OptionPlace} collects several.
 *
 * @example
 * throw OptionError('retries', -1, 'a whole number, 0 or more')
 */
export const OptionError = defineError('OptionError', wrongOption)

function wrongOption(option: string, got: unknown, expected: string): string {
  return `the option "${option}" is ${show(got)}; it takes ${expected}`
}

function unknownOption(option: string, name: string, known: readonly string[]): string {
  return `Unknown option "${option}".${didYouMean(name, known)} Known options: ${known.join(', ') || 'none'}`
}

/** The representation of a value in a message. */
class Shown extends String {}

/** An address may contain a password, and a long string is a key or a certificate rather than a word. */
export const mayBeSecret = (text: string): boolean => text.length > 200 || /:\/\/|@|[\r\n]/.test(text)

/**
 * Marks a value whose text may be shown: that of an option for a word, a number, a name or a path.
 *
 * Without this mark, no message shows a string. Any value may be a secret, even in the wrong option: an address with its
 * password as the name of a host, or a key instead of the options.
 *
 * @example
 * const mode = process.env.MODE ?? 'fast'
 * if (!['fast', 'exact'].includes(mode)) throw OptionError('mode', quoted(mode), '"fast" or "exact"')
 */
export function quoted(value: unknown): unknown {
  if (Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === 'string' && !mayBeSecret(one))) {
    const all = value.join(', ')
    return mayBeSecret(all) ? value : new Shown(`[${all}]`)
  }
  return typeof value === 'string' && !mayBeSecret(value) ? new Shown(JSON.stringify(value)) : value
}

/**
 * Words that describe a value: `described('an empty list')`.
 *
 * @example
 * throw OptionError('files', described('an empty list'), 'at least one pattern')
 */
export function described(words: string): unknown {
  return new Shown(words)
}

/**
 * Marks the value of an option for a secret: not even a number is shown, nor the names in an object.
 *
 * @example
 * throw OptionError('token', hidden(12345), 'a string')
 */
export function hidden(value: unknown): unknown {
  if (value === undefined || value === null || value === '') return value
  const kind = Array.isArray(value) ? 'list' : typeof value
  return kind === 'string' ? value : new Shown(`${/^[aeiou]/.test(kind) ? 'an' : 'a'} ${kind} (not shown)`)
}

/** A value as a message shows it. For an object, only the names: their values may be secrets. */
function show(value: unknown): string {
  if (value instanceof Shown || value instanceof RegExp || value instanceof Date) return String(value)
  if (typeof value === 'string') return value === '' ? 'an empty string' : 'a string (not shown)'
  if (typeof value === 'function' || typeof value === 'symbol') return `a ${typeof value}`
  if (typeof value !== 'object' || value === null) return String(value)
  if (Array.isArray(value)) return value.length === 0 ? 'an empty array' : 'an array'
  if (ArrayBuffer.isView(value)) return 'bytes'
  if (!isOptions(value)) return `an object of the kind ${tagOf(value)}`
  const names = Object.keys(value)
  return names.length === 0 ? 'an empty object' : `{ ${names.slice(0, 5).join(', ')}${names.length > 5 ? ', …' : ''} }`
}

/** How many mistakes a message lists: of a thousand wrong values, no one reads the last. */
const most = 20

/**
 * The place of the options that are being read: their path for messages, and the list of all mistakes in them.
 *
 * @example
 * const place = new OptionPlace('plugins.audit')
 * place.in('limit').path // 'plugins.audit.limit'
 */
export class OptionPlace {
  readonly #of: OptionPlace | undefined
  readonly #member: string | number
  readonly #problems: string[]

  /** `member` is the whole path if the place is not `of` another one. */
  constructor(member: string | number, problems: string[] = [], of?: OptionPlace) {
    this.#member = member
    this.#problems = problems
    this.#of = of
  }

  /** The path, such as `plugins.cors.maxAge`; `''` for the server's options. Composed when a message needs it: most options are right. */
  get path(): string {
    const before = this.#of?.path ?? ''
    if (typeof this.#member === 'number') return `${before}[${this.#member}]`
    return before === '' ? this.#member : `${before}.${this.#member}`
  }

  /** The place of a member of the value that is read here, or of an element of a list. */
  in(member: string | number): OptionPlace {
    return new OptionPlace(member, this.#problems, this)
  }

  /** The same place, whose path also says what the value was read from. */
  from(source: string): OptionPlace {
    return new OptionPlace(`${this.path} (${source})`, this.#problems)
  }

  /** All noted mistakes, from here and every other place of the same options. */
  get problems(): readonly string[] {
    return this.#problems
  }

  /** Whether no mistake has been noted so far. */
  get isFine(): boolean {
    return this.#problems.length === 0
  }

  /** All noted mistakes as one string; if there are very many, the first ones. */
  get summary(): string {
    const all = this.#problems
    if (all.length < 2) return all[0] ?? ''
    const more = all.length > most ? [`and ${all.length - most} more`] : []
    return `${all.length} options are wrong:${[...all.slice(0, most), ...more].map((one) => `\n- ${one}`).join('')}`
  }

  /** Notes a wrong value. None of its text is shown unless it is {@link quoted}. */
  wrong(given: unknown, takes: string): void {
    this.#problems.push(wrongOption(this.path || 'options', given, takes))
  }

  /** Notes a member that has no meaning. */
  unknown(name: string, known: readonly string[]): void {
    this.#problems.push(unknownOption(this.in(name).path, name, known))
  }

  /** Notes a mistake that another reader of options reports. */
  problem(sentence: string): void {
    this.#problems.push(sentence)
  }

  /**
   * Ends the reading.
   *
   * @throws OptionError, which reports all noted mistakes.
   */
  settle(suffix = ''): void {
    if (this.isFine) return
    // The suffix applies to all mistakes, not only to the last one.
    const end = this.#problems.length > 1 ? suffix.replace(/^\. /, '\n') : suffix
    const error = new FrameworkError(OptionError.code, OptionError.status, this.summary + end)
    Error.captureStackTrace?.(error, this.settle)
    throw error
  }
}

/**
 * Checks the options of a call: they must be an object without unknown names. The options of plugins are read by checks instead, see
 * `option.shape`.
 *
 * @throws OptionError; for an unknown name with the nearest known one.
 * @example
 * checkOptions('json', options, ['sizeLimit', 'maxDepth'])
 */
export function checkOptions(plugin: string, options: object, known: readonly string[]): void {
  const place = new OptionPlace(plugin)
  checkNames(options, place, known)
  place.settle()
}

/**
 * The names of all given options, including inherited ones: code that reads an option also sees inherited ones, so code that checks or
 * copies options must see them, too.
 *
 * @example
 * optionNames({ port: 3000, host: 'localhost' }) // ['port', 'host']
 */
export function optionNames(options: object): (string | symbol)[] {
  const above = Object.getPrototypeOf(options)
  if (above === Object.prototype || above === null) return Reflect.ownKeys(options)
  const names = new Set<string | symbol>()
  for (
    let from: object | null = options;
    from !== null && from !== Object.prototype;
    from = Object.getPrototypeOf(from)
  ) {
    for (const name of Reflect.ownKeys(from)) if (from === options || name !== 'constructor') names.add(name)
  }
  return [...names]
}

/** The built-in kind of an object: `Object`, also for instances of classes, `Promise`, `Map`. */
export const tagOf = (value: object) => Object.prototype.toString.call(value).slice('[object '.length, -1)

/**
 * Whether the members of a value can be options: those of a list, a promise, a Map, a date or bytes cannot.
 *
 * @example
 * isOptions({ port: 3000 }) // true
 * isOptions([3000]) // false
 */
export function isOptions(value: unknown): value is object {
  // `import * as options` returns a namespace.
  return typeof value === 'object' && value !== null && ['Object', 'Module'].includes(tagOf(value))
}

/** A member of options; a property that was added to the prototype of all objects does not count. */
export function optionOf(options: object, name: string): unknown {
  const isEverywhere = name in Object.prototype && !optionNames(options).includes(name)
  return isEverywhere ? undefined : (options as Readonly<Record<string, unknown>>)[name]
}

/** Notes a value that is not an object, and each unknown name. */
export function checkNames(options: unknown, place: OptionPlace, known: readonly string[]): options is object {
  if (!isOptions(options)) {
    place.wrong(options, known.length === 0 ? 'an object' : `an object with ${known.join(', ')}`)
    return false
  }
  for (const key of optionNames(options)) {
    const name = typeof key === 'symbol' ? String(key) : key
    if (!known.includes(name) && (options as Record<PropertyKey, unknown>)[key] !== undefined)
      place.unknown(name, known)
  }
  return true
}
