import Negotiator from 'negotiator'

/** What a client wants to be answered with; `json` is `application/json`, with the statuses of older clients. */
export type Wanted = 'json' | 'response' | 'events' | 'page' | 'nothing'

const types = {
  'application/json': 'json',
  'application/graphql-response+json': 'response',
  'text/html': 'page',
  'text/event-stream': 'events',
} as const
const withPage = Object.keys(types)
const withoutPage = withPage.filter((type) => type !== 'text/html')
// UTF-8 is what JSON is written in; Negotiator takes a parameter for a part of the type.
const utf8 = /;[\t ]*charset="?utf-8"?/gi

/**
 * Reads an `Accept` header (RFC 9110 section 12.5.1). Without one or with an empty one, and where nothing is preferred, the answer is
 * `application/json`, as clients of before 2025 expect it.
 */
export function wantedBy(accept: string | undefined, hasPage: boolean): Wanted {
  if (!accept || accept === '*/*' || accept === 'application/json') return 'json'
  const negotiator = new Negotiator({ headers: { accept: accept.replace(utf8, '') } })
  const type = negotiator.mediaType(hasPage ? withPage : withoutPage)
  return type === undefined ? 'nothing' : types[type as keyof typeof types]
}
