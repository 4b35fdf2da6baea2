import { hidden, OptionError } from '../../kernel/index.ts'
import { jsonOf } from '../shared/environment/parse.ts'
import { option } from '../shared/options/index.ts'
import { isObject } from '../shared/values/json.ts'
import type { EnvSchema, EnvType, EnvTypes } from './types.ts'

type Read = EnvType<unknown>['read']

const typeOptions = option
  .shape({
    optional: option.flag().default(false),
    default: option.value<unknown>('a value'),
    secret: option.flag().default(false),
  })
  .into((given, place) => {
    if (given.optional && given.default !== undefined) {
      place.in('optional').wrong(true, 'either optional or a default, not both')
    }
    return given
  })

function type(kind: string, expected: string, options: object | undefined, read: Read): EnvType<unknown> {
  return { expected, ...typeOptions.parse(options, `schema.${kind}`), read }
}

/** A type whose default was checked to be one of its values. */
function checked(kind: string, expected: string, options: object | undefined, read: Read): EnvType<unknown> {
  const made = type(kind, expected, options, read)
  const refuse = () => {
    throw OptionError(`schema.${kind}.default`, hidden(made.default), expected)
  }
  if (made.default !== undefined) read(made.default, '', refuse, false)
  return made
}

/** Returns one value converted to its type; reports an unusable value. An empty value is considered absent. */
export function readValue(type: EnvType<unknown>, ...[raw, path, report, secret]: Parameters<Read>): unknown {
  if (raw !== undefined && raw !== null && raw !== '') return type.read(raw, path, report, secret || type.secret)
  if (type.default !== undefined || type.optional) return type.default
  report(path, `is ${raw === '' ? 'empty' : 'missing'}; it takes ${type.expected}`)
  return undefined
}

/** Makes a type whose values are converted in one step; a result of `undefined` means an invalid value. */
function plain(kind: string, expected: string, options: object | undefined, convert: (raw: unknown) => unknown) {
  return checked(kind, expected, options, (raw, path, report) => {
    const value = convert(raw)
    if (value === undefined) report(path, `is not valid; it takes ${expected}`)
    return value
  })
}

const textOf = (raw: unknown) => (typeof raw === 'string' ? raw : undefined)

function numberOf(raw: unknown): number | undefined {
  // Not `Number` alone, which accepts blank strings, "0x10" and "Infinity".
  const isDecimal = typeof raw === 'string' && /^\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*$/i.test(raw)
  const number = isDecimal ? Number(raw) : raw
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined
}

const words = new Map<unknown, boolean>([
  ...['true', '1', 'yes', 'on', true, 1].map((word) => [word, true] as const),
  ...['false', '0', 'no', 'off', false, 0].map((word) => [word, false] as const),
])
const booleanOf = (raw: unknown) => words.get(typeof raw === 'string' ? raw.trim().toLowerCase() : raw)

function isType(value: unknown): value is EnvType<unknown> {
  return isObject(value) && typeof value.read === 'function' && typeof value.expected === 'string'
}

function itemsOf(raw: unknown): unknown[] | undefined {
  if (Array.isArray(raw)) return raw
  if (typeof raw !== 'string') return undefined
  if (!raw.trimStart().startsWith('[')) return raw.split(',').map((item) => item.trim())
  const json = jsonOf(raw)
  return Array.isArray(json) ? json : undefined
}

function array(first?: object, second?: object): EnvType<unknown> {
  const element = isType(first) ? first : undefined
  const of = element === undefined ? '' : `, each ${element.expected}`
  const expected = `a list${of}: values separated by commas, or a JSON array`
  const read: Read = (raw, path, report, secret) => {
    const items = itemsOf(raw)
    if (items === undefined) report(path, `is not valid; it takes ${expected}`)
    if (element === undefined || items === undefined) return items
    return items.map((item, index) => readValue(element, item, `${path}[${index}]`, report, secret))
  }
  return checked('array', expected, element === undefined ? first : second, read)
}

function object(members: EnvTypes, options?: object): EnvType<unknown> {
  checkTypes('schema.object', members)
  const expected = `a JSON object with ${Object.keys(members).join(', ')}`
  const read: Read = (raw, path, report, secret) => {
    const json = typeof raw === 'string' ? jsonOf(raw) : raw
    if (!isObject(json)) {
      report(path, `is not valid; it takes ${expected}`)
      return undefined
    }
    return Object.fromEntries(
      Object.entries(members).map(([name, member]) => {
        const own = Object.hasOwn(json, name) ? json[name] : undefined
        return [name, readValue(member, own, `${path}.${name}`, report, secret)]
      }),
    )
  }
  return checked('object', expected, options, read)
}

/** Whether a message quotes a value, or enough of it to identify it. */
function quotes(message: string, text: string): boolean {
  const [where, what] = [message.toLowerCase(), text.toLowerCase()]
  const length = Math.max(1, what.length - revealingLength + 1)
  return Array.from({ length }, (_, at) => what.slice(at, at + revealingLength)).some((part) => where.includes(part))
}
const revealingLength = 6
const longestMessage = 300

function custom(convert: (raw: string) => unknown, options?: object): EnvType<unknown> {
  if (typeof convert !== 'function') throw OptionError('schema.custom', convert, 'a function (raw) => value')
  const expected = 'a value that passes its own check'
  return type('custom', expected, options, (raw, path, report, secret) => {
    const text = typeof raw === 'string' ? raw : JSON.stringify(raw)
    try {
      const value = convert(text)
      if (typeof (value as { then?: unknown } | null)?.then !== 'function') return value
      // The result of the promise is not needed.
      void Promise.resolve(value).catch(() => {})
      report(path, 'has a custom check that is asynchronous; make it synchronous')
    } catch (error) {
      // On one line, although some validators print a whole page.
      const message = error instanceof Error ? error.message.replace(/\s+/g, ' ').slice(0, longestMessage) : ''
      const isNameable = !secret && message !== '' && !quotes(message, text)
      report(path, `does not pass its check${isNameable ? `: ${message}` : ''}`)
    }
    return undefined
  })
}

function oneOf(values: readonly (string | number)[], options?: object): EnvType<unknown> {
  const isList = Array.isArray(values) && values.length > 0
  if (!isList || values.some((one) => typeof one !== 'string' && typeof one !== 'number')) {
    throw OptionError('schema.enum', values, 'a list of strings or numbers')
  }
  const expected = `one of ${values.map((one) => JSON.stringify(one)).join(', ')}`
  return plain('enum', expected, options, (raw) =>
    values.find((one) => one === raw || (typeof raw === 'string' && String(one) === raw)),
  )
}

/** Refuses values that were not made by a builder. */
export function checkTypes(what: string, types: unknown): asserts types is EnvTypes {
  if (!isObject(types) || types instanceof Promise)
    throw OptionError(what, types, 'an object of types, such as { PORT: schema.number() }')
  for (const [name, one] of Object.entries(types)) {
    if (!isType(one)) throw OptionError(`${what}.${name}`, one, 'the result of a builder: schema.string()')
  }
}

const onOff = '"true" or "false" (or 1, 0, yes, no, on, off)'

/** The builders of types. */
export const schema = {
  string: (options) => plain('string', 'text', options, textOf),
  number: (options) => plain('number', 'a number', options, numberOf),
  boolean: (options) => plain('boolean', onOff, options, booleanOf),
  enum: oneOf,
  array,
  object,
  custom,
} satisfies { [Name in keyof EnvSchema]: (...args: never[]) => EnvType<unknown> } as unknown as EnvSchema
