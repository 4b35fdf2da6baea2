import { hidden, mayBeSecret, OptionPlace, quoted } from '../../../kernel/support/options.ts'

/** Whether an option may be left out, has a default, or must be given. */
export type Need = 'optional' | 'filled' | 'required'

/** What a check is made of. */
export interface CheckParts {
  /** In words, for messages and for the tables of the documentation: `a whole number from 1 to 1000`. */
  readonly takes: string
  /** Whether a value is of the kind that is read here. */
  fits(given: unknown): boolean
  /** What a value of that kind means; notes what is wrong with it. */
  read?(given: never, place: OptionPlace): unknown
  /** Whether the option may be left out, has a default, or must be given. Default `'optional'`. */
  readonly need?: Need
  /** What must be given, in words, where `takes` alone would not be plain to who has given nothing. */
  readonly needs?: string | undefined
  /** Whether it decides who may enter. */
  readonly isGuard?: boolean
  /** Whether no message and no listing may show what was given. */
  readonly isSecret?: boolean
  /** Whether a text that is wrong may be shown: where a word, a number or a name belongs. */
  readonly isQuoted?: boolean
  /** What stands for an option that is left out, as someone would write it. */
  readonly fallback?: unknown
  /** The checks of the members, where there are some. */
  readonly members?: { readonly [name: string]: AnyCheck }
  /** How a value of that kind is listed, where its parts have checks of their own. */
  show?(value: never): unknown
}

/** What a check reads. */
export type SettingsOf<One> = One extends Check<never, infer Value, Need> ? Value : never

/** A check of whatever. */
export type AnyCheck = Check<never, unknown, Need>

/**
 * Reads one option: knows what it takes, notes what is wrong, and gives what it means.
 *
 * `Input` is what someone writes, `Value` what the plugin gets. An option may be left out unless it is `required()`.
 */
export class Check<in Input, out Value, out Given extends Need = 'optional'> {
  /** What the check consists of: its default, the checks of its members, whether its value is secret. */
  readonly parts: CheckParts
  /** Exist for the type checker only. */
  declare readonly '~input': (input: Input) => void
  declare readonly '~value': Value
  declare readonly '~given': Given

  constructor(parts: CheckParts) {
    this.parts = parts
  }

  /** What it takes, in words, for messages: `a whole number from 1 to 1000`. */
  get takes(): string {
    return this.parts.takes
  }

  /** What an option means. What is wrong with it is noted at its place, and the value is of no use then. */
  read(given: unknown, place: OptionPlace): Value {
    const { parts } = this
    const value = given === undefined ? parts.fallback : given
    if (value === undefined && parts.need !== 'required') return undefined as Value
    if (value === undefined && parts.needs !== undefined) {
      place.problem(`"${place.path}" needs ${parts.needs}`)
      return undefined as Value
    }
    if (parts.fits(value)) return (parts.read === undefined ? value : parts.read(value as never, place)) as Value
    const shown = parts.isQuoted ? quoted(value) : value
    place.wrong(parts.isSecret ? hidden(value) : shown, parts.takes)
    return undefined as Value
  }

  /**
   * Reads the options of a call, where no plugin is registered; `path` stands before their names in messages.
   *
   * @throws OptionError that reports everything which is wrong.
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
   * What stands for the option when it is left out, as someone would write it.
   *
   * @throws OptionError for what the check does not take.
   */
  default(fallback: Input): Check<Input, Value, 'filled'> {
    if (fallback !== undefined && !this.parts.fits(fallback)) {
      // Else whoever registers the plugin and has left the option out would be told to change it.
      const place = new OptionPlace('default')
      place.problem(`the default of an option does not pass its check, which takes ${this.takes}`)
      place.settle()
    }
    return new Check({ ...this.parts, fallback, need: 'filled' })
  }

  /** Left out, it stays `undefined`: for an object that turns something on. */
  optional(): Check<Input | undefined, Value | undefined, 'optional'> {
    return new Check({ ...this.parts, fallback: undefined, need: 'optional' })
  }

  /**
   * The option must be given; without it the message says what is taken, or what it `needs`.
   *
   * @example
   * option.shape({ to: option.name().required() }).required('{ to: "someone" }')
   */
  required(needs?: string): Check<Input, Value, 'required'> {
    return new Check({ ...this.parts, fallback: undefined, need: 'required', needs })
  }

  /**
   * The option decides who may enter: where it is named and `undefined`, by an import that went wrong for example, it is wrong and
   * not left out.
   */
  guard(): Check<Input, Value, Given> {
    return new Check({ ...this.parts, isGuard: true })
  }

  /** No message and no listing shows what was given. */
  secret(): Check<Input, Value, Given> {
    return new Check({ ...this.parts, isSecret: true })
  }

  /** Says in other words what is taken. */
  says(takes: string): Check<Input, Value, Given> {
    return new Check({ ...this.parts, takes })
  }

  /** Types what is taken, where a named type with documented members is nicer to look at than what is inferred. */
  typed<Named extends Input & object>(): Check<undefined extends Input ? Named | undefined : Named, Value, Given> {
    return this as never
  }

  /**
   * Goes on from what was read when nothing is wrong with it: works out what the plugin needs, and notes what does not belong
   * together.
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

  /** What was given or stands for it, for a listing: without secrets. */
  show(given: unknown): unknown {
    const { fallback, isSecret, show } = this.parts
    const value = given === undefined ? fallback : given
    // Who registered it may have written something else into the object since.
    if (value === undefined || !this.parts.fits(value)) return undefined
    if (isSecret) return '(secret)'
    return show === undefined ? showPlain(value) : show(value as never)
  }
}

/** A deeper listing helps no one, and that of an object which contains itself would not end. */
const deepest = 4

/** A value of which no check says more: texts that look like a secret are not shown, nor is what only this process can know. */
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
  // A store or a provider of someone's own, which may have its password beside its methods.
  if (members.some(([, one]) => typeof one === 'function')) return '(object)'
  return Object.fromEntries(members.map(([name, one]) => [name, showPlain(one, depth + 1)]))
}
