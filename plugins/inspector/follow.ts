import type { Context, Kernel, Request, RequestTrace, StepTrace } from '../../kernel/index.ts'
import { followChannel, heldChannel, together } from '../shared/development/held-channel.ts'
import { inspectorRequest } from '../shared/development/inspector-request.ts'
import { followOutgoing } from '../shared/development/outgoing.ts'
import { hideInText } from '../shared/values/marked.ts'
import { safely } from '../shared/values/safely.ts'
import { eachWorkOf, type WorkKind } from '../shared/work/kind.ts'
import { whenOver } from '../shared/work/wrap-work.ts'
import { type Activity, type Begun, type Mark, traceOf, traceparentOf } from './activities.ts'
import { copied, type Recorder } from './recorder.ts'
import { followRedis } from './redis.ts'

type Json = Readonly<Record<string, unknown>>
type Event = Json & { readonly error?: unknown }

/** Shortens keys, subjects and the like to the length that lists show. */
const cut = (line: unknown) => String(line ?? '').slice(0, 2_048)

function messageOf(payload: unknown): unknown {
  if (!(payload instanceof Uint8Array)) return payload
  // A character of several bytes may have been cut at the end.
  const decoded = new TextDecoder().decode(payload.subarray(0, 8_192))
  if (/[^\P{Cc}\s]/u.test(decoded) || decoded.slice(0, -1).includes('\ufffd')) return `[${payload.byteLength} bytes]`
  return safely(() => JSON.parse(decoded), decoded)
}

/** Follows the requests of a server and the work of the services in its process; returns the function that ends this. */
export function follow(
  recorder: Recorder,
  ctx: Context,
  isOwn: (request: Pick<Request, 'path'>) => boolean,
): () => void {
  const links = new Links()
  const ends = [
    // In Node.js before 24, a storage in use makes every promise of the process slower.
    () => recorder.current.disable(),
    () => recorder.repeating.disable(),
    followRequests(recorder, ctx.server, isOwn),
    followCalls(
      recorder,
      ({ port, pathname: path }) =>
        [String(ctx.server.port), inspectorRequest()?.port].includes(port) && isOwn({ path }),
    ),
    followRedis(recorder),
  ]
  eachWorkOf(ctx, 'inspector', (kind, plugin) => {
    if (kind.list !== undefined) recorder.activities.addList(kind.list)
    const { form = 'work' } = kind
    if (form === 'work') ends.push(followWork(recorder, links, kind, plugin))
    else ends.push(form === 'part' ? followPart(recorder, kind) : followMoment(recorder, kind))
  })
  return together(ends)
}

/** Returns how a piece of work is shown, without its secrets, and the size of that. */
function shown(recorder: Recorder, kind: WorkKind, event: Event, given: Json, usual: string) {
  const title = cut(hideInText(kind.title?.(event as never) ?? usual))
  const { data: kept, size } = copied({ title, ...detailsOf(recorder, kind, given, event) })
  return { begun: { kind: kind.list!.id, ...kept, ...(kind.view && { view: kind.view }) }, size }
}

/** Returns the note of a piece of work and those of its `given` details that are not shown already, without their secrets. */
function detailsOf({ redactor }: Recorder, kind: WorkKind, given: Json, event: Event, earlier: Json = {}) {
  const data: Record<string, unknown> = {}
  for (const name in given) {
    const value = given[name]
    // An object may have changed; a member `name` says whether `value` is secret.
    if (typeof value !== 'object' && name !== 'name' && name !== 'value' && value === earlier[name]) continue
    data[name] = messageOf(value)
  }
  const redacted = redactor.own(data)
  // An email is shown as it looks, so its content is not redacted.
  if (kind.view === 'email') Object.assign(redacted, { html: data.html, text: data.text })
  return { note: cut(hideInText(kind.note?.(event as never) ?? '')), data: redacted }
}

function entered<Event extends object>(
  recorder: Recorder,
  name: string,
  enter: (event: Event) => Activity | undefined,
): () => void {
  const start = heldChannel(`tracing:framework:${name}:start`)
  const { current } = recorder
  start.bindStore(current, (event) => safely(() => enter(event as Event), current.getStore()) as Activity)
  return () => void start.unbindStore(current)
}

const ending = (name: string, end: string) => `tracing:framework:${name}:${end}`

function followRequests(
  recorder: Recorder,
  server: Kernel,
  isOwn: (request: Pick<Request, 'path'>) => boolean,
): () => void {
  return together([
    entered<RequestTrace>(recorder, 'request', (event) => {
      const { request, response } = event
      if (request.server !== server || isOwn(request)) return recorder.current.getStore()
      whenOver(event, () => recorder.endRequest(request, response))
      return recorder.beginRequest(request)
    }),
    followMark<RequestTrace>(recorder, 'handler', ({ request }) => {
      const activity = recorder.ofRequest(request)
      return [activity, activity?.marks.findLast(({ name }) => name === 'handler')]
    }),
    followChannel('framework:step', ({ request, name }: StepTrace) => {
      if (name !== 'inspector') recorder.mark(recorder.ofRequest(request), name)
    }),
    followChannel('framework:error', ({ request, error }: RequestTrace) =>
      recorder.failed(recorder.ofRequest(request), error),
    ),
  ])
}

function followMoment(recorder: Recorder, kind: WorkKind): () => void {
  const { activities, current } = recorder
  return followChannel(`framework:${kind.channel}`, (event: Event) => {
    if (kind.isNotable?.(event as never) === false) return
    const request = kind.request?.(event as never)
    const activity = request === undefined ? current.getStore() : recorder.ofRequest(request)
    // The request is not recorded.
    if (request !== undefined && activity === undefined) return
    const given = kind.data?.(event as never) ?? {}
    const { begun, size } = shown(recorder, kind, event, given, activity?.title ?? kind.span(event as never))
    if (request !== undefined) recorder.mark(activity, `${kind.span(event as never)}: ${begun.note}`)
    activities.add(begun, activity, size)
  })
}

function followWork(recorder: Recorder, links: Links, kind: WorkKind, plugin: string): () => void {
  const { activities, current } = recorder
  const { channel } = kind
  const isPublished = kind.role === 'publish'
  // In the event itself: a `WeakMap` would make each collection of garbage longer.
  const own = Symbol(channel)
  type Followed = Event & { [own]?: { readonly activity: Activity; readonly data: Json } }
  return together([
    entered<Followed>(recorder, channel, (event) => {
      const data = kind.data?.(event as never) ?? {}
      const span = kind.span(event as never)
      const what = shown(recorder, kind, event, data, span)
      const link = isPublished ? {} : links.of(event)
      // A message published without a link does not belong to the work that happens to run here.
      const isTaken = !isPublished && isCarrier(event.carrier)
      const from = isTaken ? undefined : current.getStore()
      // A publication over MQTT has no name of its own: topics are too many.
      const group = kind.role === 'call' ? plugin : span === kind.role ? `${span} ${plugin}` : span
      const activity = activities.begin({ ...what.begun, ...link, group }, from, what.size)
      if (isPublished) links.fill(event, activity)
      event[own] = { activity, data }
      return activity
    }),
    followChannel(ending(channel, 'end'), (event: Followed) => {
      const activity = event[own]?.activity
      if (activity !== undefined && isPublished) links.remember(event, activity)
    }),
    followChannel(ending(channel, 'asyncEnd'), (event: Followed) => {
      if (event[own] === undefined) return
      const { activity, data: earlier } = event[own]
      if ('error' in event) recorder.failed(activity, event.error)
      if (kind.ended !== undefined) {
        // Some of it is known only now. The same object, such as the event itself, shows no change.
        const given = kind.data?.(event as never) ?? {}
        const { note, data } = copied(detailsOf(recorder, kind, given, event, given === earlier ? {} : earlier)).data
        Object.assign(activity, { note })
        Object.assign(activity.data, data)
      }
      if (kind.repeats !== undefined) recorder.noteRepeats(activity, activity.title, kind.repeats)
      activities.end(activity, 'error' in event ? 'failed' : 'ok')
      const again = 'error' in event ? kind.again?.(event as never) : undefined
      if (again) activity.again = copied({ ...again, plugin }).data
    }),
  ])
}

/** Follows the requests of this process to other servers. */
function followCalls(recorder: Recorder, isOwn: (url: URL) => boolean): () => void {
  const { activities, current, redactor } = recorder
  return followOutgoing<Activity>({
    begin({ method, url, isUpgrade }) {
      if (isUpgrade || method === 'CONNECT' || isOwn(url)) return undefined
      const { host, pathname, search } = url
      const from = current.getStore()
      const path = redactor.target(pathname + search)
      const shown = recorder.hiding(from, {
        title: cut(`${method} ${host}${path}`),
        data: { method, host, path: cut(path) },
      })
      const { data, size } = copied(shown)
      return activities.begin({ kind: 'outgoing', group: `${url.protocol}//${host}`, ...data }, from, size)
    },
    responded(activity, status, size) {
      activity.note = String(status)
      Object.assign(activity.data, { status, size, respondedAfter: activities.since(activity) })
      activities.onChange(activity)
    },
    ended: (activity) => activities.end(activity, Number(activity.data.status) >= 500 ? 'failed' : 'ok'),
    failed(activity, error) {
      recorder.failed(activity, error)
      const why = error instanceof Error && error.name === 'AbortError' ? 'aborted' : 'no response'
      activity.note = activity.note === '' ? why : `${activity.note}, ${why === 'aborted' ? why : 'cut off'}`
      activities.end(activity, 'failed')
    },
  })
}

/** The number of published messages that are remembered. */
const maxLinks = 2_000

/** Links the work that a message causes to the work that published it, by data that travels with it, so even across processes. */
class Links {
  readonly #published = new Map<string, Pick<Activity, 'id' | 'trace'>>()

  /** Adds the link before a message leaves; a tracing tool may replace it by its own. */
  fill({ carrier }: Event, activity: Activity): void {
    if (!isCarrier(carrier)) return
    carrier.traceparent ??= traceparentOf(activity)
    this.remember({ carrier }, activity)
  }

  /** Remembers the link; called again when the message has left, for a link that another tool has set. */
  remember({ carrier }: Event, activity: Activity): void {
    if (!isCarrier(carrier) || carrier.traceparent === undefined) return
    if (this.#published.size >= maxLinks) this.#published.delete(this.#published.keys().next().value!)
    this.#published.set(carrier.traceparent, { id: activity.id, trace: activity.trace })
  }

  of({ carrier }: Event): Pick<Begun, 'trace' | 'parent'> {
    if (!isCarrier(carrier) || carrier.traceparent === undefined) return {}
    const activity = this.#published.get(carrier.traceparent)
    if (activity !== undefined) return { trace: activity.trace, parent: activity.id }
    return { trace: traceOf(carrier.traceparent) }
  }
}

const isCarrier = (carrier: unknown): carrier is Record<string, string> =>
  typeof carrier === 'object' && carrier !== null

/** Follows a part of some work, whose mark begins with it. */
function followMark<Part extends { readonly error?: unknown }>(
  recorder: Recorder,
  channel: string,
  begun: (event: Part) => readonly [Activity | undefined, Mark | undefined],
): () => void {
  const own = Symbol(channel)
  type Marked = Part & { [own]?: { readonly activity: Activity; readonly mark: Mark } }
  return together([
    followChannel(ending(channel, 'start'), (event: Marked) => {
      const [activity, mark] = begun(event)
      if (activity !== undefined && mark !== undefined) event[own] = { activity, mark }
    }),
    followChannel(ending(channel, 'asyncEnd'), (event: Marked) => {
      const found = event[own]
      if (found === undefined) return
      found.mark.ms = recorder.activities.since(found.activity) - found.mark.at
      found.mark.failed = 'error' in event
      if ('error' in event) recorder.failed(found.activity, event.error)
    }),
  ])
}

function followPart(recorder: Recorder, kind: WorkKind): () => void {
  return followMark<Event>(recorder, kind.channel, (event) => {
    const activity = recorder.current.getStore()
    return [activity, recorder.mark(activity, (kind.title ?? kind.span)(event as never))]
  })
}
