import { checkOptions, definePlugin } from '../../kernel/index.ts'
import { mustBeNode } from './failures.ts'
import { type CronOptions, uiSettingsOf } from './options.ts'
import { CronService } from './service.ts'
import { cronUi } from './ui.ts'

/** What closing leaves of its time for the waiting: the hook has a deadline of its own, which must not come first. */
const margin = 0.9

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
  provide({ ui, ...options }: CronOptions = {}) {
    // All of them, so that the message for a wrong name lists them all.
    checkOptions('cron', { ui, ...options }, ['crons', 'timezone', 'lock', 'history', 'clock', 'ui'])
    if (typeof ui === 'object') uiSettingsOf(ui)
    return { cron: new CronService(options) }
  },
  setup(ctx, { ui = false }: CronOptions = {}) {
    mustBeNode()
    const service = ctx.services.get('cron')
    service.logTo(ctx.log)
    if (ui !== false) ctx.register(cronUi(ui === true ? {} : ui))
    ctx.onListen(() => service.start())

    const { closeTimeout, drainWindow } = ctx.server.settings
    let began = 0
    ctx.server.closing.addEventListener('abort', () => {
      began = performance.now() - Math.min(drainWindow, closeTimeout / 2)
      service.halt()
    })
    ctx.onClose(async () => {
      const left = Math.min(closeTimeout / 2, closeTimeout - (performance.now() - began))
      await service.stop({ timeout: Math.max(0, left * margin) })
    })
  },
})
