import { atEachBoot, definePlugin } from '../../kernel/index.ts'
import { figure } from '../shared/development/metrics.ts'
import { isLeading } from '../shared/environment/supervisor.ts'
import { cronClasses } from './jobs/base-cron.ts'
import { isServed, reportStarted, servers } from './jobs/declarations.ts'
import { isMemoryLock, memoryCronLock } from './locks/lock.ts'
import { cronOptions } from './options.ts'
import { CronService } from './service.ts'
import { cronUi } from './ui/ui.ts'
import { work } from './work.ts'

const hook = 'register the plugin "cron" (background: { crons: […] })'
const remedies = { hook, other: `${hook}, or call CronService.run()` }

// Reports jobs that nothing runs, even when servers boot without this plugin.
atEachBoot((server) => {
  if (servers.of(server) !== undefined) return
  reportStarted(server, server.logger, remedies)
  if (!isServed()) cronClasses.reportUnserved(server.logger, remedies.other)
})

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
  inspector: async () => (await import('./inspector.ts')).panels,
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
