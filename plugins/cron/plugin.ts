import { atEachBoot, clock, definePlugin } from '../../kernel/index.ts'
import { figure } from '../shared/development/metrics.ts'
import { isLeading } from '../shared/environment/supervisor.ts'
import { type WorkKind, workKind } from '../shared/work/kind.ts'
import { cronClasses } from './jobs/base-cron.ts'
import { isServed, reportStarted, servers } from './jobs/declarations.ts'
import type { CronRunTrace } from './jobs/job.ts'
import { isMemoryLock, memoryCronLock } from './locks/lock.ts'
import { cronOptions } from './options.ts'
import { CronService } from './service.ts'
import { cronUi } from './ui/ui.ts'

const hook = 'register the plugin "cron" (background: { crons: […] })'
const remedies = { hook, other: `${hook}, or call CronService.run()` }

// Reports jobs that nothing runs, even when servers boot without this plugin.
atEachBoot((server) => {
  if (servers.of(server) !== undefined) return
  reportStarted(server, server.logger, remedies)
  if (!isServed()) cronClasses.reportUnserved(server.logger, remedies.other)
})

const work: readonly WorkKind[] = [
  workKind<CronRunTrace>({
    channel: 'cron.run',
    list: { id: 'cron', title: 'Cron runs' },
    help: 'Runs of jobs',
    span: ({ job }) => `cron ${job}`,
    title: ({ job }) => job,
    data: ({ job, scheduledAt }) => ({ job, scheduledAt }),
    labels: { job: { attribute: 'framework.cron.job', of: ({ job }) => job } },
    attributes: ({ scheduledAt }) => ({ 'framework.cron.scheduled_at': scheduledAt.toISOString() }),
    // Nothing requested the run: the work in which the timer was set does not include it.
    isRoot: true,
    measures: [
      {
        name: 'cron_last_success_timestamp_seconds',
        type: 'gauge',
        help: 'Time of the last successful run of the job, since 1970',
        unit: 'seconds',
        of: ({ error }) => (error === undefined ? clock.now() / 1_000 : undefined),
      },
      {
        name: 'cron_lateness_seconds',
        type: 'histogram',
        help: 'How much later than its tick a run began',
        unit: 'seconds',
        at: 'start',
        of: ({ scheduledAt }) => Math.max(0, clock.now() - scheduledAt.getTime()) / 1_000,
      },
    ],
  }),
]

/**
 * Runs scheduled jobs while the server listens, each server by itself; needs the package `node-schedule`.
 *
 * @example
 * import { cron, Server } from 'framework'
 *
 * await cron('0 30 3 * * *', { name: 'cleaning' }).start(() => console.log('cleaning'))
 * const server = new Server({ plugins: { cron: { crons: ['dist/crons/*.js'], timezone: 'Europe/Rome' } } })
 * await server.listen()
 */
export const cron = definePlugin({
  name: 'cron',
  access: { routes: true },
  options: cronOptions,
  inspector: () => [
    {
      title: 'Schedules',
      columns: ['Job', 'Pattern', 'State', 'Next', 'Last run', 'Outcome', 'Error'],
      rows: (services) =>
        services
          .get('cron')
          .jobs()
          .map(({ name, pattern, timezone, state, next, runs: [last] }) => {
            const when = timezone === undefined ? pattern : `${pattern} (${timezone})`
            return [name, when, state, next, last?.startedAt, last?.outcome, last?.error]
          }),
      actions: [
        {
          name: 'Run now',
          async run(services, name) {
            return (await services.get('cron').trigger(name))
              ? `${name} was started.`
              : `${name} was not started: it is already running, or the service is closing.`
          },
        },
      ],
    },
  ],
  work,
  metrics(services) {
    const jobs = services.get('cron').jobs()
    const ticks = jobs.flatMap(({ name: job, counts }) =>
      Object.entries(counts).map(([outcome, value]) => ({ value, labels: { job, outcome } })),
    )
    const running = jobs.map(({ name: job, state }) => ({ value: state === 'running' ? 1 : 0, labels: { job } }))
    return [
      figure('counter', 'cron_ticks', 'Ticks of jobs, by outcome', ticks),
      figure('gauge', 'cron_running', 'Whether the job is running now', running),
    ]
  },
  runs: (services) => services.cron!.jobs().map(({ name }) => `cron ${name}`),
  health: {
    cron: {
      check: (services) => services.get('cron').check(),
      onFailure: 'degraded',
      remedy: 'Start the Redis or Postgres of the lock, or correct cron.lock',
    },
  },
  memory: ({ lock }) => ({ lock: lock && memoryCronLock() }),
  doctor: async () => (await import('./doctor.ts')).checks,
  provide: (settings) => ({ cron: new CronService({}, { ...settings, logger: undefined }) }),
  setup(ctx, { ui, lock }) {
    const isLocked = lock !== undefined && !isMemoryLock(lock)
    const service = ctx.services.get('cron')
    const unmount = service.mount(ctx.server, ctx.log)
    if (ui !== false) ctx.register(cronUi(ui))
    if (isLocked) ctx.onListen(() => service.start())
    else {
      ctx.onLead(() => service.start())
      ctx.onListen(() => {
        if (!isLeading(ctx.server.worker)) ctx.log.info('the cron jobs have no lock, so they run in another worker')
      })
    }
    ctx.onDrain(() => service.drain())
    ctx.onClose(async (timeLeft) => void (await service.stop({ timeout: timeLeft }).finally(unmount)))
  },
})
