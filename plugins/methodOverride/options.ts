import { option } from '../shared/options/index.ts'

/** Options of the method override. */
export interface MethodOverrideOptions {
  /** The header that names the method. Default `x-http-method-override`. */
  header?: string
  /** The methods that may be overridden: `POST`, `PUT`, `PATCH`, `DELETE`. Default `['POST']`. */
  methods?: readonly ('POST' | 'PUT' | 'PATCH' | 'DELETE')[]
}

// If a GET could be turned into a DELETE, a link would be enough to delete something, and prefetchers follow links.
const method = option
  .oneOf('POST', 'PUT', 'PATCH', 'DELETE')
  .says('POST, PUT, PATCH or DELETE; safe methods are never overridden')

export const methodOverrideOptions = option
  .shape({
    header: option
      .name(/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/, 'the name of a header')
      .into((name) => name.toLowerCase())
      .default('x-http-method-override'),
    methods: option
      .list(method, { min: 1 })
      .into((methods): ReadonlySet<string> => new Set(methods))
      .default(['POST']),
  })
  .typed<MethodOverrideOptions>()
