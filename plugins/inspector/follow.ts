import type { Kernel, Request, RequestTrace, StepTrace } from '../../kernel/index.ts'
import { heldChannel } from '../toolkit/held-channel.ts'
import { type Activity, type Begun, type Mark, traceOf, traceparentOf } from './activities.ts'
import { copied, type Recorder } from './recorder.ts'

type Event = Readonly<Record<string, unknown>> & { readonly error?: unknown }

/** How one kind of work of the services is shown. */
interface Work {
  readonly channel: string
  begun(event: Event): Begun
}

const text = (value: unknown) => String(value ?? '')
/** Shortens keys, subjects and the like to the length that lists show. */
const cut = (line: string) => line.slice(0, 2_048)
const works: readonly Work[] = [
  {
    channel: 'queue.publish',
    begun: ({ queue, kind, count, payloads }) => ({
      kind: 'publish',
      title: `${text(queue)}`,
      note: count === 1 ? '' : `${text(count)} messages`,
      data: { queue, engine: kind, count, payloads },
    }),
  },
  {
    channel: 'queue.attempt',
    begun: ({ queue, kind, id, attempt, attempts, payload }) => ({
      kind: 'attempt',
      title: `${text(queue)}`,
      note: `attempt ${text(attempt)}${attempts === undefined ? '' : ` of ${text(attempts)}`}`,
      data: { queue, engine: kind, id, attempt, attempts, payload },
    }),
  },
  {
    channel: 'cron.run',
    begun: ({ job, scheduledAt }) => ({ kind: 'cron', title: text(job), data: { job, scheduledAt } }),
  },
  {
    channel: 'mail.send',
    begun: ({ provider, mail }) => ({
      kind: 'mail',
      title: text((mail as { subject?: unknown }).subject) || '(no subject)',
      note: addressesOf(mail),
      data: { provider, ...mailOf(mail as Record<string, unknown>) },
    }),
  },
  {
    channel: 'storage',
    begun: ({ disk, operation, key }) => ({
      kind: 'storage',
      title: text(key),
      note: `${text(operation)} on ${text(disk)}`,
      data: { disk, operation, key },
    }),
  },
  {
    channel: 'mqtt.publish',
    begun: ({ topic, bytes, payload }) => ({
      kind: 'mqtt',
      title: text(topic),
      note: 'published',
      data: { topic, bytes, payload: messageOf(payload) },
    }),
  },
  {
    channel: 'mqtt.message',
    begun: ({ topic, filter, bytes, payload }) => ({
      kind: 'mqtt',
      title: text(topic),
      note: 'received',
      data: { topic, filter, bytes, payload: messageOf(payload) },
    }),
  },
  {
    channel: 'websocket.message',
    begun: ({ socket, route, message }) => ({
      kind: 'websocket',
      title: text(route),
      note: 'received',
      data: { socket: (socket as { id?: unknown }).id, route, message: messageOf(message) },
    }),
  },
  {
    channel: 'channel.publish',
    begun: ({ channel: name, kind }) => ({ kind: 'channel', title: text(name), note: text(kind), data: { kind } }),
  },
  {
    channel: 'graphql.operation',
    begun: ({ type, name }) => ({
      kind: 'graphql',
      title: text(name ?? '(anonymous)'),
      note: text(type),
      data: { type, name },
    }),
  },
]

function messageOf(payload: unknown): unknown {
  if (!(payload instanceof Uint8Array)) return payload
  const bytes = payload.subarray(0, 8_192)
  // A character of several bytes may have been cut at the end.
  const decoded = new TextDecoder().decode(bytes)
  if (/[^\P{Cc}\s]/u.test(decoded) || decoded.slice(0, -1).includes('\ufffd')) return `[${payload.byteLength} bytes]`
  try {
    return JSON.parse(decoded)
  } catch {
    return decoded
  }
}

/** Maximum characters of a mail's HTML that are kept. */
const maxMail = 256 * 1024

function mailOf(mail: Record<string, unknown>): Record<string, unknown> {
  const { html, text, subject, from, to, cc, bcc, replyTo, headers, messageId, priority } = mail
  const attachments = (mail.attachments ?? []) as readonly {
    filename?: unknown
    path?: unknown
    contentType?: unknown
  }[]
  const cut = (value: unknown) => (typeof value === 'string' ? value.slice(0, maxMail) : undefined)
  return {
    messageId,
    subject,
    from,
    to,
    cc,
    bcc,
    replyTo,
    priority,
    headers,
    text: cut(text),
    html: cut(html),
    attachments: attachments.map(({ filename, path, contentType }) => ({ filename, path, contentType })),
  }
}

const addressesOf = (mail: unknown) =>
  ((mail as { to?: readonly { address?: unknown }[] }).to ?? []).map(({ address }) => text(address)).join(', ')

/** Follows the work of a server and of the services in its process; returns the function that ends this. */
export function follow(recorder: Recorder, server: Kernel, isOwn: (request: Request) => boolean): () => void {
  const links = new Links()
  const ends = [
    followRequests(recorder, server, isOwn),
    followMoments(recorder),
    followFrames(recorder),
    ...works.map((work) => followWork(recorder, links, work)),
    followResolvers(recorder),
  ]
  return () => {
    for (const end of ends) end()
  }
}

/** Runs code whose failure must not affect what is being inspected: a subscriber that throws ends the process. */
function safely<Result>(work: () => Result, otherwise: Result): Result {
  try {
    return work()
  } catch {
    return otherwise
  }
}

function subscribed(name: string, heard: (event: never) => void): () => void {
  const followed = heldChannel(name)
  const listener = (event: unknown) => safely(() => heard(event as never), undefined)
  followed.subscribe(listener)
  return () => void followed.unsubscribe(listener)
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

function followRequests(recorder: Recorder, server: Kernel, isOwn: (request: Request) => boolean): () => void {
  const handlers = new WeakMap<object, Mark>()
  const ends = [
    entered<RequestTrace>(recorder, 'request', ({ request }) => {
      if (request.server !== server) return recorder.current.getStore()
      const native = recorder.taken()
      return isOwn(request) ? recorder.current.getStore() : recorder.beginRequest(request, native)
    }),
    subscribed(ending('request', 'asyncEnd'), ({ request, response }: RequestTrace) =>
      recorder.endRequest(request, response),
    ),
    subscribed(ending('handler', 'start'), (event: RequestTrace) => {
      const activity = recorder.ofRequest(event.request)
      const mark = activity?.marks.findLast(({ name }) => name === 'handler')
      if (mark !== undefined) handlers.set(event, mark)
    }),
    subscribed(ending('handler', 'asyncEnd'), (event: RequestTrace) => {
      const mark = handlers.get(event)
      const activity = recorder.ofRequest(event.request)
      if (mark === undefined || activity === undefined) return
      mark.ms = recorder.activities.since(activity) - mark.at
      mark.failed = 'error' in event
    }),
    subscribed('framework:step', ({ request, name }: StepTrace) => {
      if (name !== 'inspector') recorder.mark(recorder.ofRequest(request), name)
    }),
    subscribed('framework:error', ({ request, error }: RequestTrace) =>
      recorder.failed(recorder.ofRequest(request), error),
    ),
  ]
  return () => {
    for (const end of ends) end()
  }
}

function followMoments(recorder: Recorder): () => void {
  const { activities, current } = recorder
  return subscribed('framework:cache', ({ response, outcome }: Event) => {
    const request = (response as { readonly request?: Request }).request
    const activity = request === undefined ? current.getStore() : recorder.ofRequest(request)
    if (activity === undefined) return
    recorder.mark(activity, `cache: ${text(outcome)}`)
    activities.add({ kind: 'cache', title: activity.title, note: text(outcome), data: { outcome } }, activity)
  })
}

function followFrames({ activities, current, redactor }: Recorder): () => void {
  return subscribed('framework:websocket.send', ({ socket, route, frame }: Event) => {
    const shown = { socket: (socket as { id?: unknown }).id, route, message: messageOf(parsed(frame)) }
    const { data, size } = copied(redactor.value(shown) as Record<string, unknown>)
    const begun: Begun = { kind: 'websocket', title: text(route), note: 'sent', data }
    activities.add(begun, current.getStore(), size)
  })
}

/** Returns the text of a frame as bytes, which `messageOf` reads. */
const parsed = (frame: unknown) => (typeof frame === 'string' ? Buffer.from(frame) : frame)

function followWork(recorder: Recorder, links: Links, work: Work): () => void {
  const { activities, current } = recorder
  const begun = new WeakMap<object, Activity>()
  const ends = [
    entered<Event>(recorder, work.channel, (event) => {
      const what = work.begun(event)
      const shown = recorder.redactor.value(what.data) as Record<string, unknown>
      // A mail is shown as it looks, so its content is not redacted.
      if (what.kind === 'mail') Object.assign(shown, { html: what.data?.html, text: what.data?.text })
      const { title, note = '' } = what
      const kept = copied({ title: cut(title), note: cut(note), data: shown })
      const isPublished = work.channel.endsWith('publish')
      const link = isPublished ? {} : links.of(event)
      // A message published without a link does not belong to the work that happens to run here.
      const isTaken = !isPublished && isCarrier(event.carrier)
      const from = isTaken ? undefined : current.getStore()
      const activity = activities.begin({ ...what, ...kept.data, ...link }, from, kept.size)
      if (isPublished) links.fill(event, activity)
      begun.set(event, activity)
      return activity
    }),
    subscribed(ending(work.channel, 'end'), (event: Event) => {
      const activity = begun.get(event)
      if (activity !== undefined && work.channel.endsWith('publish')) links.remember(event, activity)
    }),
    subscribed(ending(work.channel, 'asyncEnd'), (event: Event) => {
      const activity = begun.get(event)
      if (activity === undefined) return
      if ('error' in event) recorder.failed(activity, event.error)
      activities.end(activity, 'error' in event ? 'failed' : 'ok')
    }),
  ]
  return () => {
    for (const end of ends) end()
  }
}

/** The number of published messages that are remembered. */
const mostLinks = 2_000

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
    if (this.#published.size >= mostLinks) this.#published.delete(this.#published.keys().next().value!)
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

function followResolvers(recorder: Recorder): () => void {
  const { current, activities } = recorder
  const marks = new WeakMap<object, { activity: Activity; mark: Mark }>()
  const ends = [
    subscribed(ending('graphql.resolver', 'start'), (event: Event) => {
      const activity = current.getStore()
      const mark = recorder.mark(activity, `${text(event.type)}.${text(event.field)}`)
      if (activity !== undefined && mark !== undefined) marks.set(event, { activity, mark })
    }),
    subscribed(ending('graphql.resolver', 'asyncEnd'), (event: Event) => {
      const found = marks.get(event)
      if (found === undefined) return
      found.mark.ms = activities.since(found.activity) - found.mark.at
      found.mark.failed = 'error' in event
      if ('error' in event) recorder.failed(found.activity, event.error)
    }),
  ]
  return () => {
    for (const end of ends) end()
  }
}
