import { checkOptions, OptionError, quoted } from '../../kernel/index.ts'

/** Options of the method override. */
export interface MethodOverrideOptions {
  /** The header that names the method. Default `x-http-method-override`. */
  header?: string
  /** The methods that may be overridden: `POST`, `PUT`, `PATCH`, `DELETE`. Default `['POST']`. */
  methods?: readonly ('POST' | 'PUT' | 'PATCH' | 'DELETE')[]
}

/** The options with every default in place, checked. */
export interface OverrideSettings {
  readonly header: string
  readonly methods: ReadonlySet<string>
}

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const unsafe = ['POST', 'PUT', 'PATCH', 'DELETE']

export function settingsOf(options: MethodOverrideOptions = {}): OverrideSettings {
  checkOptions('methodOverride', options, ['header', 'methods'])
  const { header = 'x-http-method-override', methods = ['POST'] } = options
  if (typeof header !== 'string' || !token.test(header)) {
    throw OptionError('methodOverride.header', quoted(header), 'the name of a header')
  }
  // A GET that deletes would be one link away, and prefetchers follow links.
  if (!Array.isArray(methods) || methods.length === 0 || methods.some((method) => !unsafe.includes(method))) {
    throw OptionError(
      'methodOverride.methods',
      methods,
      `a list of ${unsafe.join(', ')}; safe methods are never overridden`,
    )
  }
  return { header: header.toLowerCase(), methods: new Set(methods) }
}
