import { defineError, withCause } from '../../kernel/support/errors.ts'
import { checkOptions } from '../../kernel/support/options.ts'
import { ContractError, type NamedRoute, readContract } from './define.ts'
import type { CallOptions, ContractClient, HeaderValues } from './types.ts'

// If a handler does not catch it, the answer is a 500 without details: addresses of other servers are not meant for clients.
const ContractCallError = defineError(
  'ContractCallError',
  (name: string, request: string, why: string) => `${name} (${request}): ${why}`,
)

/** Options of a client. */
export interface ContractClientOptions {
  /** The address of the server, including the prefix of the contract, if any. Browsers do not need it: the default is the page's origin. */
  readonly baseUrl?: string
  /** Headers of every call; a function is called before each one. */
  readonly headers?: HeaderValues | (() => HeaderValues | Promise<HeaderValues>)
  /** Used instead of the global `fetch`: `(request) => server.fetch(request)` calls a server in this process. */
  readonly fetch?: (request: Request) => Promise<Response>
  /** Whether cookies are sent, as for `fetch`. */
  readonly credentials?: 'omit' | 'same-origin' | 'include'
  /** Timeout of a call in milliseconds, including its body. Default none. */
  readonly timeout?: number
  /** Cancels every call when it aborts. */
  readonly signal?: AbortSignal
}

interface Input extends CallOptions {
  readonly params?: { readonly [name: string]: unknown }
  readonly query?: object
  readonly body?: unknown
}

/**
 * Creates the client of a contract: a function for each route, which returns the answer whatever its status.
 *
 * The client validates nothing: the server does, and the client trusts the server.
 *
 * @throws ContractError for a value that is not a contract, OptionError for an unknown option.
 * @example
 * import { contractClient, defineContract } from 'framework/contract'
 * import { z } from 'zod'
 *
 * const shop = defineContract({
 *   readPost: { method: 'GET', path: '/posts/:id', responses: { 200: z.object({ title: z.string() }) } },
 * })
 * const client = contractClient(shop, { baseUrl: 'http://localhost:3000' })
 * const answer = await client.readPost({ params: { id: '1' } })
 * if (answer.status === 200) console.log(answer.body.title)
 */
export function contractClient<Routes extends object>(
  contract: Routes,
  options: ContractClientOptions = {},
): ContractClient<Routes> {
  checkOptions('contractClient', options, ['baseUrl', 'headers', 'fetch', 'credentials', 'timeout', 'signal'])
  const calls = readContract(contract).map((named) => [named.name, (input?: Input) => call(named, options, input)])
  return Object.fromEntries(calls) as ContractClient<Routes>
}

async function call({ name, route, segments }: NamedRoute, options: ContractClientOptions, input: Input = {}) {
  const members = ['params', 'query', 'headers', 'body'].filter(
    (member) =>
      member === 'headers' || (member === 'params' ? segments.some(({ kind }) => kind !== 'static') : member in route),
  )
  checkOptions(name, input, [...members, 'timeout', 'signal'])
  const headers = new Headers()
  const common = typeof options.headers === 'function' ? await options.headers() : options.headers
  for (const [header, value] of [...Object.entries(common ?? {}), ...Object.entries(input.headers ?? {})]) {
    if (value !== undefined && value !== null) headers.set(header, String(value))
  }
  const url = `${(options.baseUrl ?? '').replace(/\/+$/, '')}${pathOf(name, segments, input.params ?? {})}${search(name, input.query)}`
  const body = write(input.body, headers)
  const timeout = input.timeout ?? options.timeout
  const signals = [options.signal, input.signal, timeout === undefined ? undefined : AbortSignal.timeout(timeout)]
  const signal = AbortSignal.any(signals.filter((one) => one !== undefined))
  const { credentials } = options
  const init = {
    method: route.method,
    headers,
    signal,
    ...(body !== undefined && { body }),
    ...(credentials && { credentials }),
  }
  try {
    const response = await (options.fetch ?? fetch)(new Request(url, init))
    const { ok, status } = response
    return { ok, status, headers: response.headers, body: await read(response) }
  } catch (error) {
    // A caller that aborts receives the reason of its own signal, an AbortError or a TimeoutError.
    if (signal.aborted) throw error
    const why = error instanceof Error ? error.message : String(error)
    throw withCause(ContractCallError(name, `${route.method} ${url}`, why), error)
  }
}

/** Reads answers as the generated client does: media types without `text` in them become Blobs. */
async function read(response: Response): Promise<unknown> {
  const type = (response.headers.get('content-type') ?? '').toLowerCase()
  if (type.startsWith('text/event-stream')) return response.body
  if (/^application\/([\w.+-]+\+)?json\b/.test(type)) {
    const text = await response.text()
    return text === '' ? undefined : JSON.parse(text)
  }
  if (type === '' || type.startsWith('text/')) return (await response.text()) || undefined
  const blob = await response.blob()
  return blob.size === 0 ? undefined : blob
}

function write(body: unknown, headers: Headers): BodyInit | undefined {
  if (body === undefined || body instanceof FormData || body instanceof URLSearchParams) return body
  if (!headers.has('content-type')) headers.set('content-type', 'application/json')
  return JSON.stringify(body)
}

function pathOf(name: string, segments: NamedRoute['segments'], params: { readonly [name: string]: unknown }): string {
  const names = segments.filter(({ kind }) => kind !== 'static').map(({ text }) => text)
  checkOptions(`${name}: params`, params, names)
  const parts = segments.flatMap(({ kind, text, optional }) => {
    // The pattern contains a percent sign in its escaped form.
    if (kind === 'static') return encodeURIComponent(text.replaceAll('%25', '%'))
    const value = params[text]
    if (value === undefined && optional) return []
    if (value === undefined || value === null) throw ContractError(`${name}: the parameter "${text}" is missing`)
    if (kind === 'param') return segmentOf(name, text, value)
    return String(value)
      .split('/')
      .map((part) => (part === '' ? '' : segmentOf(name, text, part)))
  })
  return `/${parts.join('/')}`
}

function segmentOf(name: string, param: string, value: unknown): string {
  const text = textOf(name, `the parameter "${param}"`, value)
  // Every URL parser removes dots, however escaped, together with the segment before them; a lone surrogate is not text.
  if (text === '' || text === '.' || text === '..' || /\p{Surrogate}/u.test(text)) {
    throw ContractError(`${name}: the parameter "${param}" is ${JSON.stringify(text)}, which cannot be sent in a path`)
  }
  return encodeURIComponent(text)
}

function search(name: string, query: object | undefined): string {
  const sent = new URLSearchParams()
  for (const [key, given] of Object.entries(query ?? {})) {
    for (const value of Array.isArray(given) ? given : [given]) {
      if (value !== undefined && value !== null) sent.append(key, textOf(name, `"${key}" in the query`, value))
    }
  }
  const text = sent.toString()
  return text === '' ? '' : `?${text}`
}

function textOf(name: string, what: string, value: unknown): string {
  if (value instanceof Date) return value.toISOString()
  if (typeof value === 'object') throw ContractError(`${name}: ${what} is an object, which cannot be written as text`)
  return String(value)
}
