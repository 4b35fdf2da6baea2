import { atEachBoot, checkOptions, definePlugin } from '../../kernel/index.ts'
import { expectRunner } from './declarations.ts'
import { mustBeNode } from './failures.ts'
import { reportIdleJobs } from './idle.ts'
import { type CronOptions, uiSettingsOf } from './options.ts'
import { CronService } from './service.ts'
import { cronUi } from './ui.ts'

// For servers without this plugin.
atEachBoot(reportIdleJobs)

/**
 * Runs scheduled jobs while the server listens, on Node.js; needs the package `node-schedule`.
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
  provide(given: CronOptions = {}) {
    // All of them, so that the message for a wrong name lists them all.
    checkOptions('cron', given, ['crons', 'timezone', 'lock', 'history', 'clock', 'ui'])
    const { ui, ...options } = given
    if (typeof ui === 'object') uiSettingsOf(ui)
    return { cron: new CronService(options) }
  },
  setup(ctx, { ui = false }: CronOptions = {}) {
    mustBeNode()
    const service = ctx.services.get('cron')
    service.logTo(ctx.log)
    expectRunner(service)
    if (ui !== false) ctx.register(cronUi(ui === true ? {} : ui))
    ctx.onListen(() => service.start())
    ctx.server.closing.addEventListener('abort', () => service.halt())
    ctx.onClose(async (timeLeft) => void (await service.stop({ timeout: timeLeft })))
  },
})
