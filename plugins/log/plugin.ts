import { definePlugin, described, type Kernel, OptionError, type Request, type Response } from '../../kernel/index.ts'
import { isOwnRequest } from '../shared/development/own-requests.ts'
import { RouteValue } from '../shared/http/route-value.ts'
import { logFields } from '../shared/logging/log-fields.ts'
import { isFallback } from '../shared/logging/logger.ts'
import { option } from '../shared/options/index.ts'
import { pathWithoutMarked } from '../shared/values/marked.ts'
import { createLogger } from './logger.ts'
import { logOptions } from './options.ts'

/** Servers whose logger already comes from a log plugin. */
const supplied = new WeakSet<Kernel>()

/**
 * Logs with pino: the server's own messages, `req.log`, and one line for every request with a response, whose id is sent back as `x-request-id`.
 *
 * Credentials are redacted, long entries are cut, and a sink that breaks or blocks never stops the server. Requests of a route with
 * `log: false` are not logged. If the server option `logger` is given, the lines go to that logger instead.
 *
 * @example
 * new Server({ plugins: { log: { level: 'debug', redact: ['user.email'] } } })
 */
export const log = definePlugin({
  name: 'log',
  access: false,
  options: logOptions,
  routeOptions: { log: option.flag() },
  setup(ctx, settings) {
    const { server } = ctx
    let { logger } = server.settings
    if (isFallback(logger)) {
      const made = createLogger(settings)
      logger = made.logger
      ctx.onClose(made.flush)
      // In a list of plugins, telemetry may come after this one.
      ctx.onReady(made.addFields)
      if (!supplied.has(server)) server.logger = logger
      supplied.add(server)
    } else {
      const [useless] = settings.ofLogger
      if (useless !== undefined) {
        throw OptionError(
          `log.${useless}`,
          described('given'),
          `nothing together with the server's own option "logger"`,
        )
      }
    }
    const quiet = new RouteValue<true>()
    ctx.onRoute((route) => {
      if (route.settings.log === false) quiet.set(route, true)
    })
    ctx.onSend(nameRequest)
    // The response that replaces the one of a failed error handler runs no onSend hook.
    ctx.onError((_error, req, res) => nameRequest(req, res))
    if (!settings.logResponse) return

    const target = logger
    ctx.onResponse(function logResponse(req, res, ms) {
      const { method, route } = req
      const path = pathWithoutMarked(req.path, req.params)
      if (quiet.of(req) === true || isOwnRequest(req)) return
      const status = res.statusCode
      const took = Math.round(ms * 1000) / 1000
      const shown = { reqId: req.id, method, path, route, ...(res.aborted ? { aborted: true } : { status }), ms: took }
      const fields = logFields()
      const entry = fields === undefined ? shown : { ...shown, ...fields(req) }
      if (res.aborted) target.info(entry, 'request aborted')
      else if (status >= 500) target.warn(entry, 'request failed')
      else target.info(entry, 'request')
    })
  },
})

/** Sends the id of the request, which users can quote in reports; keeps a header set by the handler, such as that of an upstream. */
function nameRequest(req: Request, res: Response): void {
  if (res.getHeader('x-request-id') === undefined) res.setHeader('x-request-id', req.id)
}
