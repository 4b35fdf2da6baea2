import type { Attributes } from '@opentelemetry/api'
import { attributeValue } from '../shared/work/kind.ts'
import type { Convention, Family } from './text.ts'

const sum = { isSum: true } as const
const ofProcess = { isOfProcess: true } as const

const job = { job: 'framework.cron.job' }
const queue = {
  queue: 'messaging.destination.name',
  kind: 'messaging.system',
  state: 'framework.queue.state',
}
const outcome = { outcome: 'framework.outcome' }

/**
 * The semantic conventions of OpenTelemetry, and `framework.…` for metrics that they do not name.
 * https://opentelemetry.io/docs/specs/semconv/
 */
export const conventions: { readonly [family: string]: Convention } = {
  http_request_duration_seconds: { name: 'http.server.request.duration', unit: 's' },
  http_request_body_size_bytes: { name: 'http.server.request.body.size', unit: 'By' },
  http_response_body_size_bytes: { name: 'http.server.response.body.size', unit: 'By' },
  http_requests_in_flight: {
    name: 'http.server.active_requests',
    unit: '{request}',
    labels: { method: 'http.request.method', scheme: 'url.scheme' },
    ...sum,
  },
  process_cpu_seconds: { name: 'process.cpu.time', unit: 's', labels: { mode: 'cpu.mode' }, ...ofProcess },
  process_resident_memory_bytes: { name: 'process.memory.usage', unit: 'By', ...sum, ...ofProcess },
  // The convention has one value for each space of V8's heap; this is the whole heap, on every runtime.
  process_heap_used_bytes: { name: 'framework.process.heap.used', unit: 'By', ...sum, ...ofProcess },
  process_heap_limit_bytes: { name: 'framework.process.heap.limit', unit: 'By', ...sum, ...ofProcess },
  process_external_memory_bytes: { name: 'framework.process.external_memory', unit: 'By', ...sum, ...ofProcess },
  process_event_loop_delay_seconds: { name: 'nodejs.eventloop.delay.mean', unit: 's', ...ofProcess },
  process_event_loop_seconds: {
    name: 'nodejs.eventloop.time',
    unit: 's',
    labels: { state: 'nodejs.eventloop.state' },
    ...ofProcess,
  },
  process_open_fds: { name: 'process.unix.file_descriptor.count', unit: '{file_descriptor}', ...sum, ...ofProcess },
  process_start_time_seconds: { name: 'framework.process.start_time', unit: 's', ...ofProcess },
  queue_messages: { name: 'framework.queue.messages', unit: '{message}', labels: queue },
  queue_oldest_message_seconds: { name: 'framework.queue.oldest_message', unit: 's', labels: queue },
  cron_lateness_seconds: { name: 'framework.cron.lateness', unit: 's', labels: job, ...ofProcess },
  cron_last_success_timestamp_seconds: { name: 'framework.cron.last_success', unit: 's', labels: job, ...ofProcess },
  cron_running: { name: 'framework.cron.running', unit: '{run}', labels: job },
  cron_ticks: { name: 'framework.cron.ticks', unit: '{tick}', labels: { ...job, ...outcome } },
  websocket_open: { name: 'framework.websocket.open', unit: '{websocket}', ...sum },
  websocket_opened: { name: 'framework.websocket.opened', unit: '{websocket}', labels: outcome },
  websocket_messages: { name: 'framework.websocket.messages', unit: '{message}', labels: outcome },
  upload_files: { name: 'framework.upload.files', unit: '{file}', ...ofProcess },
  upload_bytes: { name: 'framework.upload.size', unit: 'By', ...ofProcess },
  overload_refused: { name: 'framework.overload.refused', unit: '{request}' },
  overload_share: { name: 'framework.overload.share', unit: '1' },
}

const units: { readonly [unit: string]: string } = { seconds: 's', bytes: 'By' }

/** Metrics of the application and of its plugins keep their names: none contains a dot, so none collides with the above. */
export const conventionOf = ({
  name,
  unit = '',
  convention,
}: Pick<Family, 'name' | 'unit' | 'convention'>): Convention =>
  convention ?? conventions[name] ?? { name, unit: units[unit] ?? unit }

export function attributesOf(
  { labels: names = {}, attributes }: Convention,
  labels: { readonly [label: string]: string } = {},
): Attributes {
  const own = Object.entries(labels).map(([label, value]) => {
    const name = names[label] ?? label
    return [name, attributeValue(name, value)]
  })
  return { ...attributes, ...Object.fromEntries(own) }
}
