import { subscribe } from 'node:diagnostics_channel'
import type { Kernel, PluginTrace, RequestTrace, TraceOutcome } from '../../kernel/index.ts'
import type { CronRunTrace } from '../../plugins/cron/index.ts'
import type { QueueAttemptTrace, QueuePublishTrace } from '../../plugins/queues/index.ts'
import { supervisor } from '../../plugins/shared/environment/supervisor.ts'
import { messageOf } from '../../plugins/shared/values/safely.ts'
import { type Report, type RunHook, type State, topic } from './protocol.ts'

/** Milliseconds within which an engine may still deliver what it had taken. */
const lateMs = 500

let server: Kernel | undefined
/** When the server has stopped its intake. */
let stopped = Number.POSITIVE_INFINITY

/** This module runs in an instance after that of `start`, before those of the application, and reports what happens while it closes. */
const parent = supervisor()
// Processes and threads of the application, which inherit the flag, have none.
if (parent !== undefined) {
  findServer()
  followHooks()
  followJobs()
  parent.answer(topic, state)
}

function send(report: Report): void {
  if (process.connected) process.send?.(report, () => {})
}

function on<Event>(channel: string, hear: (event: Event) => void): void {
  subscribe(channel, (event) => hear(event as Event))
}

function findServer(): void {
  // The first request is that of the rehearsal to the health route: other servers of the process do not matter.
  on<RequestTrace>('tracing:framework:request:start', ({ request }) => {
    if (server !== undefined) return
    server = request.server as unknown as Kernel
    server.closing.addEventListener('abort', () => {
      stopped = performance.now()
    })
  })
}

function followHooks(): void {
  const hooks = new Map<PluginTrace, RunHook & { readonly begun: number }>()
  const report = () => send({ framework: 'hooks', hooks: [...hooks.values()].map(({ begun, ...hook }) => hook) })
  on<PluginTrace>('tracing:framework:plugin:start', (event) => {
    const { plugin, phase } = event
    if (phase !== 'drain' && phase !== 'close') return
    const isOwn = !(event.server as Kernel).settings.catalog.names.includes(plugin)
    hooks.set(event, { name: `the ${phase} hook of "${plugin}"`, isOwn, begun: performance.now() })
    report()
  })
  on<PluginTrace & TraceOutcome>('tracing:framework:plugin:asyncEnd', (event) => {
    const hook = hooks.get(event)
    if (hook === undefined) return
    const ms = Math.round(performance.now() - hook.begun)
    hooks.set(event, { ...hook, ms, ...('error' in event && { error: messageOf(event.error) }) })
    report()
  })
}

function followJobs(): void {
  on<QueuePublishTrace>('tracing:framework:queue.publish:asyncEnd', (event) => {
    if (!('error' in event)) send({ framework: 'accepted', queue: event.queue, count: event.count })
  })
  const follow = <Event extends object>(kind: string, identify: (event: Event) => { job: string; id: string }) => {
    on<Event>(`tracing:framework:${kind}:start`, (event) => {
      if (performance.now() - stopped > lateMs) send({ framework: 'late', job: identify(event).job })
    })
    on<Event>(`tracing:framework:${kind}:asyncEnd`, (event) =>
      send({ framework: 'job', ...identify(event), failed: 'error' in event }),
    )
  }
  // Each process numbers its messages in memory itself.
  follow<QueueAttemptTrace>('queue.attempt', ({ queue, id, kind }) => ({
    job: `queue ${queue}`,
    id: kind === 'memory' ? `${id} in ${process.pid}` : id,
  }))
  follow<CronRunTrace>('cron.run', ({ job, scheduledAt }) => ({ job: `cron ${job}`, id: scheduledAt.toISOString() }))
}

async function state(): Promise<State> {
  if (server === undefined) throw new Error('the readiness probe is not a route of its server')
  const { listing, services } = server
  const routes = listing.routes.map(({ record: { method, path, options } }) => ({
    method,
    path,
    isSocket: (options as { readonly websocket?: unknown }).websocket !== undefined,
  }))
  const queues = services.find('queues')
  const counted = (queues?.declared() ?? []).map(async ({ name, kind }) => {
    const { waiting, active, delayed } = await queues!.of(name).counts()
    return { queue: name, kind, count: waiting + active + delayed }
  })
  return { routes, queues: await Promise.all(counted) }
}
