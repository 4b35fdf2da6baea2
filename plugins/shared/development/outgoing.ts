import type { ClientRequest, IncomingMessage } from 'node:http'
import { safely } from '../values/safely.ts'
import { followChannel, heldChannel, together } from './held-channel.ts'

/** A request of this process to another server. */
export interface Outgoing {
  readonly method: string
  readonly url: URL
  /** Whether it asks for another protocol, as a websocket does: no channel of undici reports how that ends. */
  readonly isUpgrade: boolean
  /** The request of undici, to which headers can be added. */
  readonly undici?: UndiciRequest
}

/** What follows outgoing requests; `Own` is what it makes of one. */
export interface OutgoingFollower<Own extends object> {
  /** Called in the flow of the code that sends the request; `undefined`: the request is not followed. */
  begin(request: Outgoing): Own | undefined
  /** Called with the final status, and with the bytes of the body if the response names them; the last call unless there is `ended`. */
  responded(own: Own, status: number, size: number | undefined): void
  /** Called when the response was received whole. */
  ended?(own: Own): void
  /** Called for a request without a whole response: the other side has not responded, or it was aborted. */
  failed(own: Own, error: unknown): void
}

/** The part of what undici's channels report about a request that is used here. */
export interface UndiciRequest {
  readonly origin: string | URL
  readonly path: string
  readonly method: string
  readonly headers: string | readonly string[]
  readonly upgrade?: string | null
  addHeader(name: string, value: string): unknown
}

interface UndiciEvent {
  readonly request: UndiciRequest
  readonly response: { readonly statusCode: number; readonly headers: readonly unknown[] }
  readonly error: unknown
}

// Not resolved against the origin: a path that begins with two slashes would be a host.
const urlOf = (origin: string, path: string) =>
  safely(() => (path.startsWith('/') ? new URL(origin.replace(/\/$/, '') + path) : new URL(path, origin)))

const sizeOf = (length: unknown) => (/^\d+$/.test(String(length)) ? Number(length) : undefined)

const created = 'undici:request:create'
/** The followers here, which are not the sign of an instrumentation. */
const here = new Set<(event: unknown) => void>()

/** Whether anything but the framework follows the requests of `fetch`, which is the sign of an instrumentation. */
export function isFetchFollowed(): boolean {
  const channel = heldChannel(created)
  for (const one of here) channel.unsubscribe(one)
  const { hasSubscribers } = channel
  for (const one of here) channel.subscribe(one)
  return hasSubscribers
}

/** Follows undici, which is the `fetch` of Node.js; returns the function that ends this. */
export function followFetch<Own extends object>(follower: OutgoingFollower<Own>): () => void {
  const pending = new WeakMap<object, Own>()
  const isWhole = follower.ended !== undefined
  const heard = (name: string, then: (own: Own, event: UndiciEvent) => void) =>
    followChannel(`undici:request:${name}`, (event: UndiciEvent) => {
      const own = pending.get(event.request)
      if (own !== undefined) then(own, event)
    })
  const begin = (event: unknown) => {
    const { request } = event as UndiciEvent
    const url = urlOf(String(request.origin), request.path)
    // An error that a subscriber throws would end the process.
    const own =
      url &&
      safely(() =>
        follower.begin({ method: request.method, url, isUpgrade: Boolean(request.upgrade), undici: request }),
      )
    if (own !== undefined) pending.set(request, own)
  }
  here.add(begin)
  heldChannel(created).subscribe(begin)
  return together([
    () => {
      here.delete(begin)
      heldChannel(created).unsubscribe(begin)
    },
    heard('headers', (own, { request, response: { statusCode, headers } }) => {
      const at = headers.findIndex((one, i) => i % 2 === 0 && String(one).toLowerCase() === 'content-length')
      // An interim response such as 103 Early Hints: the final one is still to come.
      if (statusCode < 200) return
      if (!isWhole) pending.delete(request)
      follower.responded(own, statusCode, at < 0 ? undefined : sizeOf(headers[at + 1]))
    }),
    heard('trailers', (own) => follower.ended?.(own)),
    heard('error', (own, { error }) => follower.failed(own, error)),
  ])
}

/** Follows the client of `node:http` and `node:https`, on every runtime. */
function followHttpClient<Own extends object>(follower: OutgoingFollower<Own>): () => void {
  const pending = new WeakMap<object, Own>()
  const take = (request: object) => {
    const own = pending.get(request)
    pending.delete(request)
    return own
  }
  return together([
    followChannel('http.client.request.start', ({ request }: { request: ClientRequest }) => {
      const { method, path, protocol } = request
      const url = urlOf(`${protocol}//${request.getHeader('host') ?? request.host}`, path)
      const own = url && follower.begin({ method, url, isUpgrade: request.hasHeader('upgrade') })
      if (own === undefined) return
      pending.set(request, own)
      // Not `response` and not `error`: with a listener for those, Node.js leaves the body and the failure to it.
      request.once('close', () => {
        const ending = take(request)
        if (ending === undefined) return
        const { res } = request as { readonly res?: IncomingMessage }
        if (res?.complete === true) follower.ended?.(ending)
        else follower.failed(ending, new Error(res ? 'the response was cut off' : 'closed without a response'))
      })
    }),
    followChannel(
      'http.client.response.finish',
      ({ request, response }: { request: ClientRequest; response: IncomingMessage }) => {
        const own = pending.get(request)
        if (own !== undefined)
          follower.responded(own, response.statusCode ?? 0, sizeOf(response.headers['content-length']))
      },
    ),
    followChannel('http.client.request.error', ({ request, error }: { request: ClientRequest; error: unknown }) => {
      const own = take(request)
      if (own !== undefined) follower.failed(own, error)
    }),
  ])
}

export const isOnNode = !('Bun' in globalThis) && !('Deno' in globalThis)

/** Follows all that can be followed; returns the function that ends this. Bun and Deno have no channels for their `fetch`, so it is replaced there. */
export function followOutgoing<Own extends object>(follower: OutgoingFollower<Own>): () => void {
  const ends = [followFetch(follower), followHttpClient(follower)]
  return together(isOnNode ? ends : [...ends, wrapFetch(follower)])
}

/** The followers of the replaced `fetch`: one replacement for all, since that of a server that closes first could not be taken out again. */
const fetching = new Set<OutgoingFollower<object>>()
let unwrap = () => {}

function wrapFetch<Own extends object>(given: OutgoingFollower<Own>): () => void {
  const follower = given as unknown as OutgoingFollower<object>
  if (fetching.size === 0) unwrap = replaceFetch()
  fetching.add(follower)
  return () => {
    if (fetching.delete(follower) && fetching.size === 0) unwrap()
  }
}

function replaceFetch(): () => void {
  const { fetch } = globalThis
  let isOn = true
  // A proxy, which keeps the members of the runtime, such as `fetch.preconnect` of Bun.
  const wrapped = new Proxy(fetch, {
    apply(target, self, given: Parameters<typeof fetch>) {
      const begun = isOn ? safely(() => beginAll(...given), []) : []
      const sent = Reflect.apply(target, self, given)
      // Whatever another replacement returns, the application has it unchanged, and a failure here is not its own.
      for (const [follower, own] of begun)
        void Promise.resolve(sent)
          .then(
            ({ status, headers }) => {
              follower.responded(own, status, sizeOf(headers.get('content-length')))
              follower.ended?.(own)
            },
            (error: unknown) => follower.failed(own, error),
          )
          .catch(() => {})
      return sent
    },
  })
  globalThis.fetch = wrapped
  return () => {
    // Another replacement may call this one from now on.
    isOn = false
    if (globalThis.fetch === wrapped) globalThis.fetch = fetch
  }
}

function beginAll(...[input, init]: Parameters<typeof fetch>) {
  const asked = input instanceof Request ? input : undefined
  const method = (init?.method ?? asked?.method ?? 'GET').toUpperCase()
  const url = new URL(asked?.url ?? String(input))
  return [...fetching].flatMap((follower) => {
    const own = safely(() => follower.begin({ method, url, isUpgrade: false }))
    return own === undefined ? [] : [[follower, own] as const]
  })
}
