import type { Span } from '@opentelemetry/api'
import { followChannel, heldChannel, together } from '../shared/development/held-channel.ts'
import { addressOf, type Begun, methodOf, type Spans } from './spans.ts'

/** The part of what undici's channels report about a request that is used here. */
interface UndiciRequest {
  readonly origin: string | URL
  readonly path: string
  readonly method: string
  readonly headers: string | readonly string[]
  /** The protocol that is requested instead of a response, by a websocket for example. */
  readonly upgrade?: string | null
  addHeader(name: string, value: string): unknown
}

type UndiciResponse = { readonly request: UndiciRequest; readonly response: { readonly statusCode: number } }

const created = 'undici:request:create'

/** Whether anything else follows the requests of `fetch`, which is the sign of an instrumentation. */
export const isFetchFollowed = () => heldChannel(created).hasSubscribers

function begunOf(spans: Spans, method: string, url: URL): Begun {
  const port = url.port || (url.protocol === 'https:' ? '443' : '80')
  const { name, attributes } = methodOf(method)
  return {
    name,
    kind: spans.api.SpanKind.CLIENT,
    attributes: {
      ...attributes,
      'server.address': addressOf(url),
      'server.port': Number(port),
      // Without the credentials, which precede the host, and without the query, which may contain secrets.
      'url.full': `${url.origin}${url.pathname}`,
    },
  }
}

function failed(span: Span, spans: Spans, error: unknown): void {
  spans.fail(span, error)
  spans.end(span)
}

const addHeader = { set: (to: UndiciRequest, name: string, value: string) => void to.addHeader(name, value) }

/** Makes spans of Node.js `fetch` requests within other spans, and adds the context to them; returns a function that ends this. */
export function followFetch(spans: Spans): () => void {
  const { api } = spans
  const pending = new WeakMap<object, Span>()
  const take = (request: object) => {
    const span = pending.get(request)
    pending.delete(request)
    return span
  }
  return together([
    followChannel(created, ({ request }: { request: UndiciRequest }) => {
      if (api.trace.getActiveSpan() === undefined || hasTraceparent(request)) return
      // No channel reports that a connection was taken over, so a span for it would never end.
      if (request.upgrade) return spans.inject(api.context.active(), request, addHeader)
      const begun = spans.attempt(() => begunOf(spans, request.method, new URL(request.path, request.origin)))
      if (begun === undefined) return
      const { span, context } = spans.begin(begun)
      pending.set(request, span)
      spans.inject(context, request, addHeader)
    }),
    followChannel('undici:request:headers', ({ request, response }: UndiciResponse) => {
      // An interim response such as 103 Early Hints: the final one is still to come.
      if (response.statusCode < 200) return
      const span = take(request)
      if (span !== undefined) spans.endWith(span, response.statusCode, 400)
    }),
    followChannel('undici:request:error', ({ request, error }: { request: UndiciRequest; error: unknown }) => {
      const span = take(request)
      if (span !== undefined) failed(span, spans, error)
    }),
  ])
}

/** Whether a request already has a trace context, set by its sender or by an instrumentation. */
function hasTraceparent({ headers }: UndiciRequest): boolean {
  const names = typeof headers === 'string' ? headers.split('\r\n') : headers
  return names.some((name) => /^traceparent(:|$)/i.test(String(name)))
}

/** `fetch` with a span, and with the context among its headers, for runtimes whose own `fetch` cannot be followed. */
export async function tracedFetch(spans: Spans, input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const { api } = spans
  const given = input instanceof Request ? input : undefined
  const headers = new Headers(init?.headers ?? given?.headers)
  const url = given?.url ?? String(input)
  if (api.trace.getActiveSpan() === undefined || headers.has('traceparent') || !URL.canParse(url))
    return fetch(input, init)
  const method = (init?.method ?? given?.method ?? 'GET').toUpperCase()
  const { span, context } = spans.begin(begunOf(spans, method, new URL(url)))
  spans.inject(context, headers, { set: (to, name, value) => to.set(name, value) })
  try {
    // Not through a new `Request`, which would lose the runtimes' non-standard options: `client`, `tls`, `proxy`, `dispatcher`.
    const response = await api.context.with(context, () => fetch(input, { ...init, headers }))
    spans.endWith(span, response.status, 400)
    return response
  } catch (error) {
    failed(span, spans, error)
    throw error
  }
}
