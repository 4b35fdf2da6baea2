import type { Inject } from '../../kernel/index.ts'
import { type MockSocket, type MockSocketOptions, mockSocketOptions, openMockSocket } from './mock-socket.ts'
import { cookieHeader, type MockOptions, type MockQuery, mockOptions, urlOf } from './options.ts'
import { payloadOf } from './payload.ts'
import { MockResponse } from './response.ts'

/** Sends a request with the method that it is named after. */
export type MockVerb = <Body = unknown, Query extends object = MockQuery, Answer = unknown>(
  path: string,
  options?: MockOptions<Body, Query>,
) => Promise<MockResponse<Answer>>

/** The verbs of a test client: `server.inject` and every {@link MockServer} have them. */
export interface MockMethods {
  /**
   * Sends a GET.
   *
   * @example
   * const res = await server.inject.get('/users', { query: { page: 2 } })
   */
  readonly get: MockVerb
  /** Sends a HEAD; the response has headers but no body. */
  readonly head: MockVerb
  /**
   * Sends a POST; a `body` that is an object is sent as JSON.
   *
   * @example
   * const res = await server.inject.post('/users', { body: { name: 'ada' } })
   */
  readonly post: MockVerb
  /** Sends a PUT. */
  readonly put: MockVerb
  /** Sends a PATCH. */
  readonly patch: MockVerb
  /** Sends a DELETE. */
  readonly delete: MockVerb
  /** Sends a QUERY, which is safe like GET, with a body (RFC 10008). */
  readonly query: MockVerb
  /** Sends an OPTIONS, as browsers do before a request to another origin. */
  readonly options: MockVerb
  /** Sends a request with any method, even one that the server does not know. */
  request<Body = unknown, Query extends object = MockQuery, Answer = unknown>(
    method: string,
    path: string,
    options?: MockOptions<Body, Query>,
  ): Promise<MockResponse<Answer>>
  /** Opens a websocket in process. It also resolves if the server refuses: the `response` of the socket says why. */
  ws(path: string, options?: MockSocketOptions): Promise<MockSocket>
}

const verbs = ['get', 'head', 'post', 'put', 'patch', 'delete', 'query', 'options'] as const

/** Sends one request through the whole pipeline, without a socket; the first one boots the server. */
async function send(inject: Inject, method: string, path: string, given?: MockOptions<unknown, object>) {
  const call = `inject.${method.toLowerCase()}`
  const options = mockOptions.parse(given, call)
  const { query, ip, signal } = options
  const url = urlOf(path, query, `${call}('/users')`)
  const payload = await payloadOf(options)
  const headers = headersOf(options, payload?.type)
  const answer = await inject({ method: method.toUpperCase(), url, headers, body: payload?.body, ip, signal })
  return new MockResponse<never>(`${method.toUpperCase()} ${url}`, answer)
}

function open(inject: Inject, path: string, given?: MockSocketOptions): Promise<MockSocket> {
  const options = mockSocketOptions.parse(given, 'inject.ws')
  const url = urlOf(path, options.query, "inject.ws('/chat')")
  return openMockSocket(inject, url, headersOf(options, undefined), options)
}

function headersOf({ headers = {}, cookies }: Pick<MockOptions, 'headers' | 'cookies'>, type: string | undefined) {
  const lower: Record<string, string | number | readonly string[] | undefined> = {}
  if (type !== undefined) lower['content-type'] = type
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) lower[name.toLowerCase()] = value
  if (cookies !== undefined) {
    const own = lower.cookie === undefined ? [] : [lower.cookie].flat()
    lower.cookie = [...own, cookieHeader(cookies)].filter((one) => one !== '').join('; ')
  }
  return lower
}

/**
 * Makes the verbs over one way of injecting.
 *
 * @example
 * const client = mockMethods(kernel.inject)
 * const res = await client.get('/users')
 */
export function mockMethods(inject: Inject): MockMethods {
  const verb =
    (method: string): MockVerb =>
    (path, options) =>
      send(inject, method, path, options)
  return {
    ...(Object.fromEntries(verbs.map((name) => [name, verb(name)])) as Record<(typeof verbs)[number], MockVerb>),
    request: (method, path, options) => send(inject, method, path, options),
    ws: async (path, options) => open(inject, path, options),
  }
}

/** The verbs of a separate test client. */
export interface MockServer extends MockMethods {}

/**
 * A separate test client: the whole pipeline, without a socket. It does not keep cookies; pass on those of a response.
 *
 * @example
 * const client = server.getMockServer()
 * const login = await client.post('/login', { body: { name: 'ada' } })
 * const res = await client.get('/me', { cookies: login.cookies() })
 * res.assertStatus(200).assertBodySubset({ name: 'ada' })
 */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the constructor makes these members
export class MockServer {
  /** `prepare` runs before the first request; if it fails, every request fails with its error. */
  constructor(inject: Inject, prepare?: () => Promise<void>) {
    Object.assign(this, mockMethods(prepare === undefined ? inject : preparing(inject, prepare)))
  }
}

function preparing(inject: Inject, prepare: () => Promise<void>): Inject {
  let prepared: Promise<void> | undefined
  return async (request) => {
    prepared ??= prepare()
    await prepared
    return inject(request)
  }
}
