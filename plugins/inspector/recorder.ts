import { AsyncLocalStorage } from 'node:async_hooks'
import type { Kernel, RawRequest, Request, Response } from '../../kernel/index.ts'
import { originalOf } from '../shared/http/rewrite.ts'
import { describeError } from '../shared/logging/logger.ts'
import { type Marks, marksOf } from '../shared/schema/marks.ts'
import { LruMap } from '../shared/values/lru.ts'
import { secretsOf } from '../shared/values/redact.ts'
import { safely } from '../shared/values/safely.ts'
import { Activities, type Activity, type Mark, traceOf } from './activities.ts'
import { CapturedBody, captureBodies } from './bodies.ts'
import { Exceptions } from './exceptions.ts'
import type { InspectorSettings } from './options.ts'
import { type Redactor, without } from './redact.ts'

/** The data with which a request can be sent again: the real values, which leave this process only as a request to itself. */
export interface CapturedRequest extends Pick<RawRequest, 'method' | 'target' | 'ip' | 'hasBody'> {
  readonly headers: Readonly<Record<string, string>>
  /** The host that the server determined, which need not be that of the header. */
  readonly host: string | undefined
  readonly isSecure: boolean
  readonly isUpgrade: boolean
  readonly received: CapturedBody
  readonly sent: CapturedBody
  response: { readonly status: number; readonly headers: readonly string[] } | undefined
}

/** A recorded request that is being sent again, and the activity of the new request. */
export interface Repeat {
  readonly of: Activity
  made: Activity | undefined
  onReply(): void
  /** Called when a stream has sent more bytes than are kept. */
  onCut(size: number): void
}

/** What is kept of work that no page has asked for yet. A `WeakMap` for each would make every collection of garbage longer. */
const captured = Symbol('captured')
const recorded = Symbol('recorded')
type Capturing = Activity & { [captured]?: CapturedRequest }
type Recorded = Request & { [recorded]?: Activity }

/** Maximum bytes of everything that is kept. */
const maxBytes = 32 * 1024 * 1024

/** Records the work of one server and of the services in its process. */
export class Recorder {
  readonly activities: Activities
  readonly redactor: Redactor
  readonly exceptions = new Exceptions()
  /** The work to which the running code belongs. */
  readonly current = new AsyncLocalStorage<Activity>()
  readonly repeating = new AsyncLocalStorage<Repeat>()
  readonly #bodyLimit: number
  readonly #counts = new LruMap<number>({ max: 2_000 })
  readonly #server: Pick<Kernel, 'listing'>
  /** What a request of the previous version shows of HTTP. */
  readonly restored = new WeakMap<Activity, object>()
  /** Values in the path of a request that are not shown. */
  readonly #secrets = new WeakMap<Activity, readonly string[]>()

  constructor({ keep, bodyLimit }: InspectorSettings, redactor: Redactor, server: Pick<Kernel, 'listing'>) {
    this.activities = new Activities(keep, maxBytes)
    this.redactor = redactor
    this.#bodyLimit = bodyLimit
    this.#server = server
  }

  /** What schemas mark in the body of a request and of its response: those of all methods of the path, so that no method is overlooked. */
  marksOf({ data }: Activity): { readonly request: readonly Marks[]; readonly response: readonly Marks[] } {
    const options = this.#server.listing.routes.flatMap(({ record }) =>
      record.path === data.route ? record.options : [],
    )
    const marked = (schemas: readonly (object | undefined)[]) =>
      schemas.flatMap((one) => safely(() => one && marksOf(one)) ?? [])
    return {
      request: marked(options.flatMap(({ body, all }) => [body, all])),
      response: marked(options.flatMap(({ responses = {} }) => Object.values(responses))),
    }
  }

  capturedOf(activity: Activity): CapturedRequest | undefined {
    return (activity as Capturing)[captured]
  }

  /** Takes over what the previous version of the application has recorded, as its page has shown it. */
  restore(entries: readonly (Activity & { readonly http?: object })[]): void {
    const activities = entries.map(({ http, ...activity }) => {
      if (http) this.restored.set(activity, { ...http, replay: 'the previous version of the application received it' })
      return activity
    })
    for (const one of this.activities.restore(activities)) {
      // The responses to mistakes of clients have errors too.
      if (one.error !== undefined && one.outcome === 'failed' && one.kind !== 'outgoing') this.exceptions.add(one)
      this.activities.onChange(one)
    }
  }

  /** Returns the work to which a log line belongs; by the id as well, since the responses to failures are made outside of the handler. */
  ofLine(reqId: unknown): Activity | undefined {
    return this.current.getStore() ?? this.activities.list('request')!.find(({ data }) => data.id === reqId)
  }

  /** The activity of a request, unless another server of the process records it. */
  ofRequest(request: object): Activity | undefined {
    return (request as Recorded).server === this.#server ? (request as Recorded)[recorded] : undefined
  }

  /** Records a request that begins, and what is read and sent from now on. */
  beginRequest(request: Request): Activity {
    const { raw, id, ip } = request
    const native = originalOf(raw)
    const { method, target } = native
    const repeat = this.repeating.getStore()
    // With another method, the same path may be that of a route with other names.
    const earlier = (repeat && this.#secrets.get(repeat.of)) ?? []
    const secrets = [...secretsOf(request.params, this.redactor.isSecret), ...earlier]
    const shown = this.redactor.target(target.slice(0, 4_096), secrets)
    // The trace of the sender, except for a replay, which is a trace of its own.
    const trace = repeat === undefined ? traceOf(raw.header('traceparent')) : undefined
    const data = { id, ip, method, target: shown, route: request.route }
    const about = { trace, kind: 'request' as const, title: `${method} ${shown}`, data }
    const activity = this.activities.begin(about, this.current.getStore(), target.length + 1_024)
    // A request that the replay causes is not the replay.
    const own = repeat?.made === undefined ? repeat : undefined
    if (own !== undefined) {
      own.made = activity
      activity.data.repeats = own.of.id
    }
    // A secret of only a few characters would be found in every word.
    const long = secrets.filter(({ length }) => length > 3)
    if (long.length > 0) this.#secrets.set(activity, [...long, ...long.map(encodeURIComponent)])
    ;(request as Recorded)[recorded] = activity
    const grow = (bytes: number) => this.activities.grow(activity, bytes)
    const kept: CapturedRequest = {
      method,
      target,
      headers: native.headers(),
      ip: native.ip,
      host: native.host,
      isSecure: native.secure,
      hasBody: raw.hasBody,
      isUpgrade: raw.upgrade !== undefined,
      received: new CapturedBody(this.#bodyLimit, grow),
      sent: new CapturedBody(this.#bodyLimit, grow, own?.onCut),
      response: undefined,
    }
    ;(activity as Capturing)[captured] = kept
    for (const name in kept.headers) grow(name.length + kept.headers[name]!.length)
    captureBodies(raw, kept.received, kept.sent, ({ status, headers }) => {
      // The client has left, and receives nothing of it.
      if (activity.ms !== undefined) return
      kept.response = { status, headers }
      for (const text of headers) grow(text.length)
      activity.note = String(status)
      // For a streamed response, the activity itself ends only when the stream has been sent.
      activity.data.respondedAfter = this.activities.since(activity)
      this.activities.onChange(activity)
      own?.onReply()
    })
    return activity
  }

  endRequest(request: Request, response: Response): void {
    const activity = this.ofRequest(request)
    if (activity === undefined) return
    activity.data.route = request.route
    const kept = this.capturedOf(activity)
    const broken = kept?.sent.failure
    const isGone = kept?.response === undefined
    if (isGone) activity.note = 'client gone'
    if (broken) activity.note += ', broke off'
    if (broken) this.failed(activity, broken.error)
    this.activities.end(activity, isGone || broken || response.statusCode >= 500 ? 'failed' : 'ok')
  }

  failed(activity: Activity | undefined, error: unknown): void {
    if (activity === undefined || activity.error !== undefined) return
    const { data, size } = copied(this.hiding(activity, this.redactor.own(describeError(error, false))))
    activity.error = data
    this.activities.grow(activity, size)
    // One that matters to the application is thrown in the work around it.
    if (activity.kind !== 'outgoing') this.exceptions.add(activity, error)
  }

  /** Returns data that belongs to some work, without the secrets in the path of a request. */
  hiding<Data>(activity: Activity | undefined, data: Data): Data {
    return without(data, (activity && this.#secrets.get(activity)) ?? [])
  }

  /** Adds to the note of work that has ended how often its kind has within the work around it, if that is `from` times or more. */
  noteRepeats(activity: Activity, kind: string, from: number): void {
    const key = `${activity.parent} ${kind}`
    const times = activity.parent === undefined ? 0 : (this.#counts.get(key) ?? 0) + 1
    this.#counts.set(key, times)
    if (times > 1 && times >= from) activity.note = [activity.note, `${times} times here`].filter(Boolean).join(', ')
  }

  mark(activity: Activity | undefined, name: string): Mark | undefined {
    return activity === undefined ? undefined : this.activities.mark(activity, name)
  }
}

/**
 * Returns data as the page receives it, and its size. It is a copy: a slice of a string keeps the whole string in memory, so a line with
 * the first words of a file would keep the file, which no size accounts for.
 */
export function copied<Data>(data: Data): { readonly data: Data; readonly size: number } {
  const text = JSON.stringify(data) ?? 'null'
  return { data: JSON.parse(text) as Data, size: text.length }
}
