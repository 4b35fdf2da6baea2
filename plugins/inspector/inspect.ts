import type { Context, Logger, Request } from '../../kernel/index.ts'
import { inspectorRequest } from '../shared/development/inspector-request.ts'
import { announceOwn } from '../shared/development/own-requests.ts'
import { announcePage } from '../shared/development/pages.ts'
import { applicationLogger } from '../shared/logging/logger.ts'
import { follow } from './follow.ts'
import { guardOf, makeToken } from './guard.ts'
import { LivePages } from './live.ts'
import { isNoted, type LogLine, noting } from './log-lines.ts'
import type { InspectorSettings } from './options.ts'
import { Panels } from './panels.ts'
import { copied, Recorder } from './recorder.ts'
import { Redactor } from './redact.ts'
import { responder } from './routes.ts'

let token: string | undefined

/** Records what a server does from now on, and serves the page that shows it. */
export function inspect(ctx: Context, settings: InspectorSettings): void {
  const { server } = ctx
  const { path } = settings
  token ??= inspectorRequest()?.token ?? makeToken()
  const isHere = (req: Request) => req.path === path || req.path.startsWith(`${path}/`)
  const recorder = new Recorder(settings, new Redactor(settings.redact, redactedByLog(ctx)))
  const pages = new LivePages()
  recorder.activities.onChange = (activity) => pages.push(activity)
  ctx.rewrite(function inspector(raw) {
    recorder.arrived(raw)
    return undefined
  })
  announceOwn(server, isHere)
  const unfollow = follow(recorder, ctx, isHere)
  const logger = noteLog(ctx, recorder)

  const panels = new Panels(server, recorder.redactor)
  const respond = responder({ server, path, guard: guardOf(token, path), recorder, panels, pages })
  ctx.use(function inspector(req, res, next) {
    return isHere(req) ? respond(req, res) : next()
  })
  const address = `${path}?token=${token}`
  announcePage(server, 'inspector', address)
  ctx.onListen(() => {
    if (inspectorRequest() === undefined)
      applicationLogger(ctx.log).info(`inspector at ${new URL(address, server.url).href}`)
  })
  ctx.onDrain(() => pages.endAll())
  ctx.onClose(() => {
    unfollow()
    pages.endAll()
    logger.restore()
  })
}

/** Returns the paths that the log redacts, which are redacted here as well. */
function redactedByLog({ server }: Context): readonly string[] {
  const logs = server.listing.plugins.filter(({ definition }) => definition.name === 'log')
  return logs.flatMap(({ settings }) => (settings as { redact?: readonly string[] } | undefined)?.redact ?? [])
}

/** Records the log lines of the server, its requests and plugins, each with the work to which it belongs. */
function noteLog(ctx: Context, recorder: Recorder): { restore(): void } {
  const note = ({ level, message, fields }: LogLine) => {
    try {
      const data = recorder.redactor.value(fields) as Record<string, unknown>
      const from = recorder.ofLine(fields.reqId)
      const kept = copied(recorder.hiding(from, { title: recorder.redactor.text(message).slice(0, 2_048), data }))
      recorder.activities.add({ kind: 'log', note: level, ...kept.data }, from, kept.size)
    } catch {
      // A line that cannot be recorded is logged nevertheless.
    }
  }
  const { server } = ctx
  let before: Logger = server.logger
  const put = () => {
    if (isNoted(server.logger)) return
    before = server.logger
    server.logger = noting(before, note)
  }
  put()
  // The plugin `log` may be registered later, with a logger of its own.
  ctx.onReady(put)
  return {
    restore: () => {
      if (isNoted(server.logger)) server.logger = before
    },
  }
}
