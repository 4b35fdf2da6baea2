import { subscribe } from 'node:diagnostics_channel'
import type { ErrorTrace, Kernel, PluginTrace, RequestTrace, TraceOutcome } from '../../kernel/index.ts'
import type { CronRunTrace } from '../../plugins/cron/index.ts'
import type { QueueAttemptTrace, QueuePublishTrace } from '../../plugins/queues/index.ts'
import { type Supervisor, supervisor } from '../../plugins/shared/environment/supervisor.ts'
import { messageOf } from '../../plugins/shared/values/safely.ts'
import { type Described, type Left, type Report, type RunHook, topics } from './protocol.ts'

const send = (report: Report) => void (process.connected && process.send?.(report))

const on = <Event>(channel: string, hear: (event: Event) => void) => subscribe(channel, (event) => hear(event as Event))

/** This module runs in an instance after that of `start`, before those of the application, and reports what happens while it closes. */
const parent = supervisor()
// Processes and threads of the application, which inherit the flag, have none.
if (parent !== undefined) attend(parent)

function attend({ answer }: Supervisor): void {
  let server: Kernel | undefined
  let stopped: number | undefined
  // The first request is that of the rehearsal to the health route: other servers of the process do not matter.
  on<RequestTrace>('tracing:framework:request:start', ({ request }) => {
    if (server !== undefined) return
    server = request.server as unknown as Kernel
    server.closing.addEventListener('abort', () => {
      stopped = performance.now()
    })
  })
  on<ErrorTrace>('framework:error', ({ request, error }) => {
    if (server?.isClosing) send({ framework: 'failure', path: request.path, message: messageOf(error) })
  })
  followHooks()
  followJobs(() => stopped)
  answer(topics.routes, () => describe(server!))
  answer(topics.left, () => leftIn(server!))
}

function followHooks(): void {
  const begun = new Map<PluginTrace, { readonly number: number; readonly hook: RunHook; readonly at: number }>()
  on<PluginTrace>('tracing:framework:plugin:start', (event) => {
    const { plugin, phase, server } = event
    if (phase !== 'drain' && phase !== 'close') return
    const isOwn = !(server as Kernel).settings.catalog.names.includes(plugin)
    const hook = { name: `the ${phase} hook of "${plugin}"`, isOwn }
    const one = { number: begun.size, hook, at: performance.now() }
    begun.set(event, one)
    send({ framework: 'hook', number: one.number, hook })
  })
  on<PluginTrace & TraceOutcome>('tracing:framework:plugin:asyncEnd', (event) => {
    const one = begun.get(event)
    if (one === undefined) return
    const outcome = {
      ms: Math.round(performance.now() - one.at),
      ...('error' in event && { error: messageOf(event.error) }),
    }
    send({ framework: 'hook', number: one.number, hook: { ...one.hook, ...outcome } })
  })
}

/** `stopped` returns when the instance has stopped its intake. */
function followJobs(stopped: () => number | undefined): void {
  on<QueuePublishTrace>('tracing:framework:queue.publish:asyncEnd', (event) => {
    if (!('error' in event)) send({ framework: 'accepted', queue: event.queue, count: event.count })
  })
  const follow = <Event extends object>(kind: string, identify: (event: Event) => { job: string; id: string }) => {
    on<Event>(`tracing:framework:${kind}:start`, (event) => {
      const at = stopped()
      if (at !== undefined)
        send({ framework: 'late', job: identify(event).job, ms: Math.round(performance.now() - at) })
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

function describe({ listing, services }: Kernel): Described {
  const document = services.find('openapi')?.document() as Described['document']
  const routes = listing.routes.map(({ record: { method, path, options } }) => ({
    method,
    path,
    isSocket: (options as { readonly websocket?: unknown }).websocket !== undefined,
  }))
  return { routes, ...(document && { document }) }
}

function leftIn({ services }: Kernel): Promise<Left> {
  const queues = services.find('queues')
  const counted = (queues?.resolved() ?? []).map(async ({ name, kind }) => {
    // An engine that cannot count them is asked for nothing else: the jobs show what it does.
    const counts = await queues!
      .of(name)
      .counts()
      .catch(() => undefined)
    return { queue: name, kind, count: counts ? counts.waiting + counts.active + counts.delayed : 0 }
  })
  return Promise.all(counted)
}
