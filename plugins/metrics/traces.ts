import { channel, tracingChannel } from 'node:diagnostics_channel'
import type { Metrics } from './service.ts'

/** The members of events about work; each kind has some of them. */
interface WorkEvent {
  readonly error?: unknown
  readonly queue?: string
  readonly kind?: string
  readonly job?: string
  readonly provider?: string
  readonly disk?: string
  readonly operation?: string
  readonly type?: string
  readonly filter?: string
  readonly route?: string
}

interface Work {
  readonly trace: string
  readonly name: string
  readonly help: string
  /** Names of the labels, each a member of the event. None of them has values that clients choose. */
  readonly labels: readonly (keyof WorkEvent & string)[]
}

const works: readonly Work[] = [
  { trace: 'queue.publish', name: 'queue_publish', help: 'Publishing to queues', labels: ['queue', 'kind'] },
  { trace: 'queue.attempt', name: 'queue_attempt', help: 'Attempts at messages of queues', labels: ['queue', 'kind'] },
  { trace: 'cron.run', name: 'cron_run', help: 'Runs of jobs', labels: ['job'] },
  { trace: 'mail.send', name: 'mail_send', help: 'Mails that were sent', labels: ['provider'] },
  { trace: 'storage', name: 'storage_operation', help: 'Operations on objects', labels: ['disk', 'operation'] },
  { trace: 'mqtt.publish', name: 'mqtt_publish', help: 'Messages that were published to the MQTT broker', labels: [] },
  { trace: 'mqtt.message', name: 'mqtt_message', help: 'MQTT messages that were handled', labels: ['filter'] },
  { trace: 'websocket.message', name: 'websocket_message', help: 'Messages of websockets', labels: ['route'] },
  { trace: 'channel.publish', name: 'channel_publish', help: 'Messages to channels', labels: [] },
  { trace: 'upload', name: 'upload', help: 'Forms with files that were read', labels: [] },
  { trace: 'graphql.operation', name: 'graphql_operation', help: 'GraphQL operations', labels: ['type'] },
]

/** Follows the work of this process's services through its tracing channels from now on; returns a function that ends this. */
export function countWork(metrics: Metrics): () => void {
  const ends = works.map((work) => follow(metrics, work))
  ends.push(followCache(metrics), followCron(metrics), followRateLimit(metrics), followUpload(metrics))
  return () => {
    for (const end of ends) end()
  }
}

function follow(metrics: Metrics, { trace, name, help, labels }: Work): () => void {
  const durations = metrics.workHistogram({
    name: `${name}_duration_seconds`,
    unit: 'seconds',
    help: `${help}: how long`,
    labels,
  })
  const failures = metrics.counter({ name: `${name}_failures`, help: `${help}: those that failed`, labels })
  const started = new WeakMap<WorkEvent, number>()
  const valuesOf = (event: WorkEvent) =>
    Object.fromEntries(labels.map((label) => [label, String(event[label])])) as never
  const start = (event: unknown) => void started.set(event as WorkEvent, performance.now())
  const end = (event: unknown) => {
    const since = started.get(event as WorkEvent)
    if (since === undefined) return
    const { error } = event as WorkEvent
    durations.observe((performance.now() - since) / 1_000, valuesOf(event as WorkEvent), error)
  }
  const error = (event: unknown) => failures.increment(valuesOf(event as WorkEvent))
  const followed = tracingChannel(`framework:${trace}`)
  followed.start.subscribe(start)
  followed.asyncEnd.subscribe(end)
  followed.error.subscribe(error)
  return () => {
    followed.start.unsubscribe(start)
    followed.asyncEnd.unsubscribe(end)
    followed.error.unsubscribe(error)
  }
}

function followCache(metrics: Metrics): () => void {
  const looks = metrics.counter({
    name: 'cache_requests',
    help: 'Requests to routes with a cache: hit, miss, wait (for the one that computes it) or bypass',
    labels: ['outcome'],
  })
  const look = (event: unknown) =>
    looks.increment({ outcome: (event as { readonly outcome: string }).outcome.toLowerCase() })
  const looked = channel('framework:cache')
  looked.subscribe(look)
  return () => void looked.unsubscribe(look)
}

function followRateLimit(metrics: Metrics): () => void {
  const counted = metrics.counter({
    name: 'rate_limit_requests',
    help: 'Requests that a rate limit has counted, by the limit (of the server or of the route) and what became of them',
    labels: ['limit', 'outcome'],
  })
  const count = (event: unknown) => {
    const { limit, accepted } = event as { readonly limit: string; readonly accepted: boolean }
    counted.increment({ limit, outcome: accepted ? 'accepted' : 'refused' })
  }
  const followed = channel('framework:rateLimit')
  followed.subscribe(count)
  return () => void followed.unsubscribe(count)
}

function followUpload(metrics: Metrics): () => void {
  const files = metrics.counter({ name: 'upload_files', help: 'Files that were uploaded' })
  const bytes = metrics.counter({ name: 'upload_bytes', unit: 'bytes', help: 'Bytes of the files that were uploaded' })
  const end = (event: unknown) => {
    const upload = event as { readonly files: number; readonly bytes: number }
    files.add(upload.files)
    bytes.add(upload.bytes)
  }
  const uploads = tracingChannel('framework:upload')
  uploads.asyncEnd.subscribe(end)
  return () => void uploads.asyncEnd.unsubscribe(end)
}

function followCron(metrics: Metrics): () => void {
  const last = metrics.gauge({
    name: 'cron_last_success_timestamp_seconds',
    unit: 'seconds',
    help: 'When a run of the job last ended well, since 1970',
    labels: ['job'],
  })
  const lateness = metrics.histogram({
    name: 'cron_lateness_seconds',
    unit: 'seconds',
    help: 'How much later than its tick a run began',
    labels: ['job'],
  })
  const start = (event: unknown) => {
    const { job, scheduledAt } = event as { readonly job: string; readonly scheduledAt: Date }
    lateness.observe(Math.max(0, Date.now() - scheduledAt.getTime()) / 1_000, { job })
  }
  const end = (event: unknown) => {
    const { job, error } = event as { readonly job: string; readonly error?: unknown }
    if (error === undefined) last.set(Date.now() / 1_000, { job })
  }
  const runs = tracingChannel('framework:cron.run')
  runs.start.subscribe(start)
  runs.asyncEnd.subscribe(end)
  return () => {
    runs.start.unsubscribe(start)
    runs.asyncEnd.unsubscribe(end)
  }
}
