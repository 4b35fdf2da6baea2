import Negotiator from 'negotiator'
import { presetHeaders, type Request, type Response } from '../../../kernel/index.ts'
import { type Described, httpOf } from '../execution/mask-errors.ts'
import type { Refusal } from '../execution/refusal.ts'

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

const responseType = presetHeaders({ 'content-type': 'application/graphql-response+json; charset=utf-8' })
const notStored = presetHeaders({ 'cache-control': 'no-store' })

/** Responds with a result; `described` is what the client receives, `thrown` contains the errors as they were thrown. */
export function sendResult(
  req: Request,
  res: Response,
  wanted: Wanted,
  described: Described,
  thrown?: readonly unknown[],
): Response {
  if (wanted === 'response') res.setHeaders(responseType)
  // Without a header that forbids it, an intermediate cache may keep the response to a GET for any length of time.
  if (req.method !== 'POST' && res.getHeader('cache-control') === undefined) res.setHeaders(notStored)
  if (described.errors !== undefined) {
    // GraphQL over HTTP, section 6.4: without data, the status shows the failure, except to clients of application/json.
    if (wanted === 'response' && !('data' in described)) res.status(400)
    const http = httpOf(thrown ?? [])
    if (http !== undefined) applyHttp(res, http)
  }
  return res.json(described)
}

function applyHttp(res: Response, http: { readonly status?: unknown; readonly headers?: unknown }): void {
  const { status, headers } = http
  if (Number.isInteger(status) && (status as number) >= 200 && (status as number) <= 599) res.status(status as number)
  for (const [name, value] of Object.entries(headers ?? {})) res.setHeader(name, String(value))
}

/** Responds to a request that is not executed. */
export function sendRefusal(req: Request, res: Response, wanted: Wanted, refusal: Refusal): Response {
  const { status, legacy, errors, allow } = refusal
  if (allow !== undefined) res.setHeader('allow', allow)
  res.status(legacy && wanted !== 'response' ? 200 : status)
  if (wanted === 'response') res.setHeaders(responseType)
  if (req.method !== 'POST') res.setHeaders(notStored)
  return res.json({ errors })
}
