import { definePlugin } from '../../kernel/index.ts'
import { createLogger } from './logger.ts'
import { type LogOptions, settingsOf } from './options.ts'

/**
 * Logs with pino: the server's own messages, `req.log`, and one line for every answered request.
 *
 * Credentials are redacted, long values cut, and a sink that breaks or blocks never stops the server. A route with
 * `log: false` gets no line. With the server option `logger`, that one is written to instead.
 *
 * @example
 * new Server({ plugins: { log: { level: 'debug', redact: ['user.email'] } } })
 */
export const log = definePlugin({
  name: 'log',
  setup(ctx, options: LogOptions = {}) {
    const settings = settingsOf(options)
    const given = ctx.server.settings.logger
    if (given === undefined) {
      const { logger, flush } = createLogger(settings)
      ctx.server.logger = logger
      ctx.onClose(flush)
    }
    if (!settings.logResponse) return
    const quiet = new Set<string>()
    ctx.onRoute((route) => {
      if (route.options.log === false) quiet.add(`${route.method} ${route.path}`)
    })
    ctx.onResponse(function logResponse(req, res, ms) {
      const { method, path } = req
      if (quiet.size > 0 && quiet.has(`${method === 'HEAD' ? 'GET' : method} ${req.route}`)) return
      const status = res.statusCode
      const entry = { reqId: req.id, method, path, status, ms: Math.round(ms * 1000) / 1000 }
      if (status >= 500) ctx.server.logger.warn(entry, 'request failed')
      else ctx.server.logger.info(entry, 'request')
    })
  },
})
