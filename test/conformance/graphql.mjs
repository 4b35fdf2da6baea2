import { RouteCollection, Server } from 'framework'
import { serverAudits } from 'graphql-http'

/**
 * GraphQL on whichever runtime runs this, over a real socket. Returns what it saw.
 *
 * @param {string} [adapter]
 * @param {string} [jit] `jit` for the compiling executor.
 */
export async function run(adapter, jit) {
  const quiet = () => {}
  /** @type {any} */
  const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet, child: () => logger }

  /** What the source of the events went through. @type {string[]} */
  const seen = []
  async function* ticks() {
    try {
      for (let i = 1; i <= 3; i++) yield { tick: i }
    } finally {
      seen.push('ticks ended')
    }
  }
  /** A source that never has an event, as a topic on which nothing happens. */
  const silence = () => ({
    next: () => new Promise(() => {}),
    return: async () => {
      seen.push('silence returned')
      return { done: true, value: undefined }
    },
    [Symbol.asyncIterator]() {
      return this
    },
  })

  const server = new Server({
    port: 0,
    host: '127.0.0.1',
    drainWindow: 0,
    closeTimeout: 60_000,
    logger,
    router: new RouteCollection(),
    ...(adapter ? { adapter: /** @type {'node'} */ (adapter) } : {}),
    graphql: {
      schema: {
        typeDefs: `
        type Query { hello: String fails: String many(first: Int): [Query] }
        type Mutation { set(to: Int): Int }
        type Subscription { tick: Int silence: Int }`,
        resolvers: {
          Query: {
            hello: () => 'world',
            fails: () => {
              throw new Error('a secret')
            },
          },
          Mutation: { set: (_parent, { to }) => to },
          Subscription: { tick: { subscribe: ticks }, silence: { subscribe: silence } },
        },
      },
      cost: { max: 50 },
      jit: jit === 'jit' && { minCount: 1 },
      keepAlive: 50,
    },
  })
  const { port } = await server.listen()
  const url = `http://127.0.0.1:${port}/graphql`

  // The audits send GET requests as a page of another site could.
  const audits = serverAudits({
    url,
    fetchFn: (/** @type {string} */ url, /** @type {RequestInit} */ init) =>
      fetch(url, { ...init, headers: { ...init?.headers, 'graphql-require-preflight': '1' } }),
  })
  const failed = []
  for (const audit of audits) {
    const result = await audit.fn()
    if (result.status !== 'ok') failed.push(`${audit.id} ${audit.name}: ${result.reason}`)
  }

  /** @param {object} body @param {Record<string, string>} [headers] @param {AbortSignal} [signal] */
  const post = (body, headers, signal) =>
    fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
      ...(signal && { signal }),
    })
  const events = { accept: 'text/event-stream' }
  /** @param {() => boolean} isSo */
  async function until(isSo) {
    for (let i = 0; i < 6000 && !isSo(); i++) await new Promise((resolve) => setTimeout(resolve, 10))
    return isSo()
  }

  const masked = await (await post({ query: '{ hello fails }' })).json()
  const foreign = await fetch(`${url}?query={hello}`)
  const polluted = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"query":"{hello}","variables":{"__proto__":{"polluted":1}}}',
  })
  const dear = await post({ query: 'query ($n: Int) { many(first: $n) { hello } }', variables: { n: 51 } })
  const ticked = await post({ query: 'subscription { tick }' }, events)
  const text = (await ticked.text()).replaceAll(':\n\n', '')

  // A client that leaves while nothing happens: the source must be ended.
  const leaving = new AbortController()
  const left = await post({ query: 'subscription { silence }' }, events, leaving.signal)
  const alive = await left.body?.getReader().read()
  leaving.abort()
  const cancelled = await until(() => seen.includes('silence returned'))

  // A server that closes while a stream is open: it ends at once, and not at the deadline.
  seen.length = 0
  const open = await post({ query: 'subscription { silence }' }, events)
  const begun = performance.now()
  const [rest] = await Promise.all([open.text().catch(() => ''), server.close()])

  return {
    audits: audits.length,
    failed,
    masked,
    foreign: foreign.status,
    polluted: [polluted.status, /** @type {any} */ ({}).polluted ?? null],
    dear: [dear.status, /** @type {any} */ (await dear.json()).errors[0].extensions],
    stream: [ticked.status, ticked.headers.get('content-type'), text],
    alive: new TextDecoder().decode(alive?.value).startsWith(':'),
    cancelled,
    closed: [rest.includes('complete'), seen, performance.now() - begun < 30_000],
    ended: true,
  }
}
