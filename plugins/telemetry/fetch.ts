import type { Span } from '@opentelemetry/api'
import { followFetch as followOutgoing, type UndiciRequest } from '../shared/development/outgoing.ts'
import { addressOf, type Begun, methodOf, type Spans } from './spans.ts'

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

/** Whether a request already has a trace context, set by its sender or by an instrumentation. */
function hasTraceparent({ headers }: UndiciRequest): boolean {
  const names = typeof headers === 'string' ? headers.split('\r\n') : headers
  return names.some((name) => /^traceparent(:|$)/i.test(String(name)))
}

/** Makes spans of Node.js `fetch` requests within other spans, and adds the context to them; returns a function that ends this. */
export function followFetch(spans: Spans): () => void {
  const { api } = spans
  return followOutgoing<Span>({
    begin({ method, url, isUpgrade, undici }) {
      if (api.trace.getActiveSpan() === undefined || undici === undefined || hasTraceparent(undici)) return undefined
      // No channel reports that a connection was taken over, so a span for it would never end.
      const begun = isUpgrade ? undefined : spans.attempt(() => begunOf(spans, method, url))
      const { span, context } = begun === undefined ? { context: api.context.active() } : spans.begin(begun)
      spans.inject(context, undici, addHeader)
      return span
    },
    responded: (span, status) => spans.endWith(span, status, 400),
    failed: (span, error) => failed(span, spans, error),
  })
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
