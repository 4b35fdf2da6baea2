import Negotiator from 'negotiator'

/** The form of the response that a client wants; `json` is `application/json`, with the statuses that older clients expect. */
export type Wanted = 'json' | 'response' | 'events' | 'page' | 'nothing'

const types = {
  'application/json': 'json',
  'application/graphql-response+json': 'response',
  'text/html': 'page',
  'text/event-stream': 'events',
} as const
const withPage = Object.keys(types)
const withoutPage = withPage.filter((type) => type !== 'text/html')
// Removed because Negotiator treats a parameter as a part of the type; JSON is always UTF-8.
const utf8 = /;[\t ]*charset="?utf-8"?/gi

/**
 * Reads an `Accept` header (RFC 9110 section 12.5.1). If it is missing, empty or shows no preference, the response is
 * `application/json`, as clients from before 2025 expect.
 */
export function wantedBy(accept: string | undefined, hasPage: boolean): Wanted {
  if (!accept || accept === '*/*' || accept === 'application/json') return 'json'
  const negotiator = new Negotiator({ headers: { accept: accept.replace(utf8, '') } })
  const type = negotiator.mediaType(hasPage ? withPage : withoutPage)
  return type === undefined ? 'nothing' : types[type as keyof typeof types]
}
