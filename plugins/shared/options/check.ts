import { hidden, mayBeSecret, OptionError, OptionPlace, quoted } from '../../../kernel/support/options.ts'
import { isSecretName } from '../values/redact.ts'

let variable = (name: string): string | undefined => process.env[name] || undefined

/** Sets what reads variables of the environment: servers also read `.env` files, and commands that only check options do not load what that needs. */
export function readVariablesBy(read: typeof variable): void {
  variable = read
}

/** Whether an option may be omitted, has a default, or is required. */
export type Need = 'optional' | 'filled' | 'required'

/** The parts of a check. */
export interface CheckParts {
  /** The valid values in words, for messages and for the tables of the documentation: `a whole number from 1 to 1000`. */
  readonly takes: string
  /** Whether a value is of this check's kind. */
  fits(given: unknown): boolean
  /** Returns what a value of that kind means, and notes its mistakes. */
  read?(given: never, place: OptionPlace): unknown
  /** Whether the option may be omitted, has a default, or is required. Default `'optional'`. */
  readonly need?: Need
  /** The required value in words, where `takes` alone would not help a user who has not given one. */
  readonly needs?: string | undefined
  /** Whether the option restricts access. */
  readonly isGuard?: boolean
  /** Whether the value is a secret, which no message or listing may show. */
  readonly isSecret?: boolean
  /** Whether a wrong string may be shown: where a word, a number or a name is expected. */
  readonly isQuoted?: boolean
  /** The default of an omitted option, as a user would write it. */
  readonly fallback?: unknown
  /** The variable of the environment that an omitted option is read from. */
  readonly variable?: string
  /** The checks of the members, if there are any. */
  readonly members?: { readonly [name: string]: AnyCheck }
  /** Returns the form of a value of that kind in a listing, where its parts have checks of their own. */
  show?(value: never): unknown
}

/** The type that a check reads. */
export type SettingsOf<One> = One extends Check<never, infer Value, Need> ? Value : never

/** Any check. */
export type AnyCheck = Check<never, unknown, Need>

/**
 * Reads one option: knows its valid values, notes mistakes, and returns what the value means.
 *
 * `Input` is the type that a user writes, `Value` the type for the plugin. An option may be omitted unless it is `required()`.
 */
export class Check<in Input, out Value, out Given extends Need = 'optional'> {
  /** The parts of the check: its default, the checks of its members, whether its value is secret. */
  readonly parts: CheckParts
  /** These members exist for the type checker only. */
  declare readonly '~input': (input: Input) => void
  declare readonly '~value': Value
  declare readonly '~given': Given

  constructor(parts: CheckParts) {
    this.parts = parts
  }

  /** The valid values in words, for messages: `a whole number from 1 to 1000`. */
  get takes(): string {
    return this.parts.takes
  }

  /** Returns what an option means. Mistakes in it are noted at its place, and the value is then not used. */
  read(given: unknown, place: OptionPlace): Value {
    const { parts } = this
    const { value, from } = this.#written(given)
    if (value === undefined && parts.need !== 'required') return undefined as Value
    if (value === undefined && (parts.needs ?? parts.variable) !== undefined) {
      const orSet = parts.variable === undefined ? '' : `, or ${parts.variable} in the environment`
      place.problem(`"${place.path}" needs ${parts.needs ?? parts.takes}${orSet}`)
      return undefined as Value
    }
    if (value === undefined) {
      place.problem(`the option "${place.path || 'options'}" is missing; it takes ${parts.takes}`)
      return undefined as Value
    }
    const at = from === undefined ? place : place.from(`${from} of the environment`)
    if (parts.fits(value)) return (parts.read === undefined ? value : parts.read(value as never, at)) as Value
    const shown = parts.isQuoted ? quoted(value) : value
    at.wrong(parts.isSecret ? hidden(value) : shown, parts.takes)
    return undefined as Value
  }

  /** The value as a user has written it: the option, otherwise the variable, in which everything is text, otherwise the default. */
  #written(given: unknown): { readonly value: unknown; readonly from?: string } {
    const { fallback, fits, variable: name } = this.parts
    const text = given === undefined && name !== undefined ? variable(name) : undefined
    // Names such as `constructor` are members of every object.
    if (name === undefined || typeof text !== 'string') return { value: given === undefined ? fallback : given }
    const meant = text === 'true' || text === 'false' ? text === 'true' : Number(text)
    return { value: !fits(text) && fits(meant) ? meant : text, from: name }
  }

  /**
   * Reads the options of a call, where no plugin is registered; `path` comes before their names in messages.
   *
   * @throws OptionError, which reports all mistakes.
   * @example
   * const address = option.shape({ host: option.name().default('localhost'), port: option.int().required() })
   * const { host, port } = address.parse({ port: 1883 }, 'connect')
   */
  parse(given: unknown, path = ''): Value {
    const place = new OptionPlace(path)
    const value = this.read(given, place)
    place.settle()
    return value
  }

  /**
   * Sets the default of an omitted option, as a user would write it.
   *
   * @throws OptionError for a value that the check refuses, and for `undefined`: the default of the code that uses the option would apply,
   * whatever the check says.
   */
  default(fallback: Input & {}): Check<Input, Value, 'filled'> {
    if (!this.parts.fits(fallback)) {
      // Otherwise users who have omitted the option would be asked to change it.
      const place = new OptionPlace('default')
      const why =
        fallback === undefined
          ? 'is undefined. Use env() for a variable of the environment; its check'
          : 'does not pass its check, which'
      place.problem(`the default of an option ${why} takes ${this.takes}`)
      place.settle()
    }
    return new Check({ ...this.parts, fallback, need: 'filled' })
  }

  /**
   * Reads an omitted option from a variable of the environment or of its `.env` files, when the plugin is registered. An empty variable counts as
   * missing; numbers, `true` and `false` may be given as text. A variable with the name of a secret, such as `DB_PASSWORD`, makes the option one.
   *
   * @example
   * const database = option.shape({ url: option.text().required().env('DATABASE_URL'), poolSize: option.int().env('POOL_SIZE').default(10) })
   */
  env(name: string): Check<Input, Value, Given extends 'required' ? 'filled' : Given> {
    if (!/^[A-Za-z_]\w*$/.test(name)) throw OptionError('env', quoted(name), 'the name of a variable')
    return new Check({ ...this.parts, variable: name, isSecret: this.parts.isSecret === true || isSecretName(name) })
  }

  /** Makes an omitted option stay `undefined`: for an object that turns on a feature. */
  optional(): Check<Input | undefined, Value | undefined, 'optional'> {
    return new Check({ ...this.parts, fallback: undefined, need: 'optional' })
  }

  /**
   * Makes the option required; if it is missing, the message shows the valid values, or `needs`.
   *
   * @example
   * option.shape({ to: option.name().required() }).required('{ to: "someone" }')
   */
  required(needs?: string): Check<Input, Value, 'required'> {
    return new Check({ ...this.parts, fallback: undefined, need: 'required', needs })
  }

  /**
   * Marks the option as one that restricts access: if it is named but `undefined`, for example because of a wrong import, that is an
   * error and not an omission.
   */
  guard(): Check<Input, Value, Given> {
    return new Check({ ...this.parts, isGuard: true })
  }

  /** Marks the value as a secret, which no message or listing shows. */
  secret(): Check<Input, Value, Given> {
    return new Check({ ...this.parts, isSecret: true })
  }

  /** Describes the valid values in other words. */
  says(takes: string): Check<Input, Value, Given> {
    return new Check({ ...this.parts, takes })
  }

  /** Sets the type of the input, where a named type with documented members is more readable than the inferred one. */
  typed<Named extends Input & object>(): Check<undefined extends Input ? Named | undefined : Named, Value, Given> {
    return this as never
  }

  /**
   * Continues with the value if it has no mistakes: `work` computes the form that the plugin needs, and notes
   * contradictions.
   *
   * @example
   * option.shape({ min: option.int().default(1), max: option.int().default(10) }).into((range, place) => {
   *   if (range.min > range.max) place.in('max').wrong(range.max, 'no less than min')
   *   return range
   * })
   */
  into<Other>(work: (value: Value, place: OptionPlace) => Other): Check<Input, Other, Given> {
    const { read = (given: never) => given } = this.parts
    return new Check({
      ...this.parts,
      read(given, place) {
        const noted = place.problems.length
        const value = read(given, place) as Value
        return place.problems.length === noted ? work(value, place) : undefined
      },
    })
  }

  /** The given value or its default, for a listing, without secrets. */
  show(given: unknown): unknown {
    const { isSecret, show } = this.parts
    const { value } = this.#written(given)
    // The object may have been changed since the registration.
    if (value === undefined || !this.parts.fits(value)) return undefined
    if (isSecret) return '(secret)'
    return show === undefined ? showPlain(value) : show(value as never)
  }
}

/** The depth of a listing: a deeper one helps no one, and that of an object which contains itself would not end. */
const deepest = 4

/** Shows a value without a more specific check: neither strings that look like a secret nor objects of this process. */
function showPlain(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return mayBeSecret(value) ? '(text)' : value
  if (typeof value === 'function') return '(function)'
  if (typeof value !== 'object' || value === null) return typeof value === 'bigint' ? String(value) : value
  if (depth === deepest) return Array.isArray(value) ? '(list)' : '(object)'
  if (Array.isArray(value)) return value.map((one) => showPlain(one, depth + 1))
  if (value instanceof RegExp) return String(value)
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return `(${value.constructor?.name || 'object'})`
  const members = Object.entries(value)
  // A custom store or provider, which may have its password next to its methods.
  if (members.some(([, one]) => typeof one === 'function')) return '(object)'
  return Object.fromEntries(members.map(([name, one]) => [name, showPlain(one, depth + 1)]))
}
