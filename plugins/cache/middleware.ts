import {
  defineError,
  type Middleware,
  type Request,
  type Response,
  type Route,
  TracePoint,
  within,
} from '../../kernel/index.ts'
import { credentialOf, personalState } from '../shared/http/client-specific.ts'
import { replayHeaders } from '../shared/http/kept-headers.ts'
import { isKnown } from '../shared/http/validators.ts'
import { keysOf } from '../shared/schema/keys.ts'
import { ServiceDown } from '../shared/stores/breaker.ts'
import { type Entry, entryOf } from './entry.ts'
import type { Flight } from './flights.ts'
import { keyMaker } from './key.ts'
import type { RouteSettings } from './options.ts'
import type { CacheService } from './service.ts'
import { askFor } from './stores/ask.ts'
import type { Fill } from './stores/contract.ts'
import { tagMaker } from './tags.ts'

const CacheLockedError = defineError('CacheLockedError', 503, () => 'the response is being computed; try again')

type Next = () => void | Promise<void>

/** The result of a lookup in the cache. */
export interface CacheTrace {
  /** The response to the request that looked. */
  readonly response: Response
  /** The value of the header `x-cache`: found, found after another request had computed it, computed, or cache bypassed. */
  readonly outcome: 'HIT' | 'WAIT' | 'MISS' | 'BYPASS'
}

const lookPoint = new TracePoint<CacheTrace>('cache')

function trace(outcome: CacheTrace['outcome'], response: Response): void {
  if (lookPoint.isOn) lookPoint.publish({ response, outcome })
}

/** Responds with the stored entry, or to GET and HEAD with 304 if the client already has it (RFC 9110 section 13.2.2). */
function replay(entry: Entry, how: 'HIT' | 'WAIT', req: Request, res: Response): Response {
  replayHeaders(entry.headers, res)
  res.setHeader('x-cache', how)
  trace(how, res)
  const { raw, method } = req
  const none = raw.header('if-none-match')
  const since = raw.header('if-modified-since')
  if ((none !== undefined || since !== undefined) && (method === 'GET' || method === 'HEAD')) {
    const { etag, 'last-modified': lastModified } = Object.fromEntries(entry.headers) as Record<string, string>
    if (isKnown({ 'if-none-match': none, 'if-modified-since': since }, { etag, lastModified })) {
      // A 304 has no body, so the header that describes the body is removed as well.
      return res.removeHeader('content-type').status(304).send()
    }
  }
  res.status(entry.status)
  if (entry.body === null) return res.send()
  return typeof entry.body === 'string' ? res.text(entry.body) : res.bytes(entry.body)
}

/** The cache of one route, for the slot `around`. */
export function routeCache(service: CacheService, of: Route, settings: RouteSettings, lockTimeout: number): Middleware {
  // The handler reads the headers named in the route's schema, so they are part of the key.
  const headers = [...new Set([...settings.headers, ...headersIn(of.options)])].sort()
  const route: RouteSettings = { ...settings, headers }
  const keyOf = keyMaker(route, of.method)
  const tagsOf = tagMaker(route.tags, of.path)
  const mayWait = (res: Response): boolean => {
    if (route.lockBehavior !== 'fail') return route.lockBehavior === 'wait'
    res.setHeader('retry-after', String(Math.max(1, Math.ceil(lockTimeout / 1000))))
    throw CacheLockedError()
  }

  function pass(how: 'MISS' | 'BYPASS', res: Response, next: Next): void | Promise<void> {
    trace(how, res)
    res.setHeader('x-cache', how)
    return next()
  }

  function take(entry: Entry | undefined, key: string, req: Request, res: Response, next: Next): unknown {
    if (entry !== undefined) return replay(entry, 'HIT', req, res)
    // The response to a HEAD has no body to keep, and a later GET needs one.
    if (req.method === 'HEAD') return pass('MISS', res, next)
    const flight = service.flights.find(key, lockTimeout)
    return flight === undefined ? lead(key, req, res, next) : follow(flight, req, res, next)
  }

  /** Waits for the response, since another request of this process is computing it. */
  async function follow(flight: Flight<Entry>, req: Request, res: Response, next: Next): Promise<unknown> {
    if (!mayWait(res)) return pass('BYPASS', res, next)
    const entry = await within(flight.landed, lockTimeout, () => undefined)
    // No usable result: each request computes its own response. One after the other would take as long as all of them together.
    return entry === undefined ? pass('MISS', res, next) : replay(entry, 'WAIT', req, res)
  }

  /** Computes the response for this request and for those that arrive meanwhile. */
  async function lead(key: string, req: Request, res: Response, next: Next): Promise<unknown> {
    const flight = service.flights.start(key, tagsOf(req))
    let fill: Fill | undefined
    let entry: Entry | undefined
    try {
      const wanted = { key, tags: flight.tags, mayWait: () => mayWait(res) }
      const right = await askFor(service.store!, wanted, lockTimeout)
      if (right === 'down' || right === 'busy') return pass('BYPASS', res, next)
      if (right !== 'late' && 'entry' in right) {
        entry = right.entry
        return replay(entry, right.how, req, res)
      }
      if (right !== 'late') fill = right.fill
      const before = res.getHeaders()
      const personal = personalState(req)
      await pass('MISS', res, next)
      // If this response has changed a session, the cookie of the session is set only later.
      const isKept = fill !== undefined && personalState(req) === personal
      entry = isKept ? entryOf(req, res, before, route.headers) : undefined
      if (fill === undefined || entry === undefined) return undefined
      const committed = fill.commit(entry, route.ttl)
      fill = undefined
      if ((await committed) === 'stale') entry = undefined
      return undefined
    } finally {
      await fill?.abandon()
      flight.land(entry)
    }
  }

  return function cache(req, res, next) {
    // Such a request must neither receive nor store a shared response.
    for (const name of route.personal) if (req.raw.header(name) !== undefined) return pass('BYPASS', res, next)
    const credential = credentialOf(req)
    const isPersonal = credential !== undefined && !route.isShared(credential)
    const key = isPersonal ? undefined : keyOf(req)
    if (key === undefined) return pass('BYPASS', res, next)
    const store = service.store!
    // One round trip less for a miss. Not for a HEAD, which computes nothing, nor where others would not wait for the question.
    const isNew = route.lockBehavior === 'wait' && req.method !== 'HEAD' && store.mayHave?.(key) === false
    const found = isNew ? undefined : store.get(key)
    if (!(found instanceof Promise)) return take(found, key, req, res, next)
    return found.then(
      (entry) => take(entry, key, req, res, next),
      (error: unknown) => {
        if (error instanceof ServiceDown) return pass('BYPASS', res, next)
        throw error
      },
    )
  }
}

/** Returns the headers that the route option `headers` names; none if its schema does not reveal them. */
function headersIn(options: object): readonly string[] {
  const { headers } = options as { readonly headers?: unknown }
  if (typeof headers !== 'object' || headers === null) return []
  return (keysOf(headers) ?? []).map((name) => name.toLowerCase())
}
