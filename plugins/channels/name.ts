import { safely } from '../shared/values/safely.ts'
import { ChannelNameError } from './errors.ts'

/** Values of the parameters of a channel's name. */
export type NameValues = { readonly [name: string]: string | number }

/** A parameter is a whole segment, as in the path of a route. */
const parameter = /^:([A-Za-z_]\w*)$/
const literal = /^[\w.~-]+$/

/** The maximum length of a name: each name is a key, in the memory of the process and in Redis. */
const longest = 256

/**
 * The names of a channel: `orders/:id` has one for each order, `orders/7`.
 *
 * A channel has exactly one name for the same values. With two names for one channel, a client that was removed under one could join
 * under the other.
 */
export class ChannelPattern {
  readonly text: string
  readonly params: readonly string[]
  readonly #segments: readonly { readonly name?: string; readonly text: string }[]

  /** @throws ChannelNameError */
  constructor(text: unknown) {
    if (typeof text !== 'string' || text === '')
      throw ChannelNameError(String(text), 'a name is a string such as "orders/:id"')
    this.text = text
    this.#segments = text.split('/').map((segment) => {
      const name = parameter.exec(segment)?.[1]
      if (name !== undefined) return { name, text: segment }
      if (!literal.test(segment) || segment === '.' || segment === '..')
        throw ChannelNameError(
          text,
          `"${segment}" is not a part of a name. A part is a parameter such as ":id", or letters, digits, "-", "_", "." and "~"`,
        )
      return { text: segment }
    })
    this.params = this.#segments.flatMap(({ name }) => (name === undefined ? [] : [name]))
    if (new Set(this.params).size < this.params.length)
      throw ChannelNameError(text, 'two parameters have the same name')
  }

  /** @throws ChannelNameError for values that are missing, unknown, empty or too long. */
  nameOf(values: NameValues = {}): string {
    const unknown = Object.keys(values).find((name) => !this.params.includes(name))
    if (unknown !== undefined)
      throw ChannelNameError(
        this.text,
        `it has no parameter "${unknown}". Its parameters: ${this.params.join(', ') || 'none'}`,
      )
    const name = this.#segments
      .map((segment) => (segment.name === undefined ? segment.text : this.#encode(segment.name, values[segment.name])))
      .join('/')
    if (name.length > longest) throw ChannelNameError(this.text, `a name has at most ${longest} characters`)
    return name
  }

  #encode(param: string, value: unknown): string {
    const text = typeof value === 'number' && Number.isFinite(value) ? String(value) : value
    if (typeof text !== 'string' || text === '')
      throw ChannelNameError(this.text, `the parameter "${param}" needs a non-empty string or a number`)
    if (/\p{Surrogate}/u.test(text)) throw ChannelNameError(this.text, `the parameter "${param}" is not valid Unicode`)
    return encodeURIComponent(text)
  }

  /** The values in a name; `undefined` for a name of another channel, and for a spelling that `nameOf` does not produce. */
  match(name: string): Readonly<Record<string, string>> | undefined {
    if (name.length > longest) return undefined
    const parts = name.split('/')
    if (parts.length !== this.#segments.length) return undefined
    const values: Record<string, string> = Object.create(null)
    for (const [i, segment] of this.#segments.entries()) {
      const part = parts[i]!
      if (segment.name === undefined) {
        if (part !== segment.text) return undefined
        continue
      }
      const value = safely(() => decodeURIComponent(part))
      if (value === undefined || value === '' || encodeURIComponent(value) !== part) return undefined
      values[segment.name] = value
    }
    return values
  }

  /** Whether some name matches both patterns. */
  overlaps(other: ChannelPattern): boolean {
    return (
      this.#segments.length === other.#segments.length &&
      this.#segments.every((segment, i) => {
        const theirs = other.#segments[i]!
        return segment.name !== undefined || theirs.name !== undefined || segment.text === theirs.text
      })
    )
  }
}
