import type { Context, Logger } from '../../kernel/index.ts'
import { inspectorRequest } from '../shared/development/inspector-request.ts'
import { announceOwn } from '../shared/development/own-requests.ts'
import { announcePage } from '../shared/development/pages.ts'
import { announceRecorder } from '../shared/failures/page.ts'
import { applicationLogger } from '../shared/logging/logger.ts'
import { hideFields } from '../shared/values/marked.ts'
import { safely } from '../shared/values/safely.ts'
import { follow } from './follow.ts'
import { guardOf, makeToken } from './guard.ts'
import { keepForNext } from './kept.ts'
import { LivePages } from './live.ts'
import type { InspectorSettings } from './options.ts'
import { Panels } from './panels.ts'
import { Processes } from './processes.ts'
import { copied, Recorder } from './recorder.ts'
import { Redactor } from './redact.ts'
import { responder } from './routes.ts'

let token: string | undefined

/** Records what a server does from now on, and serves the page that shows it. */
export function inspect(ctx: Context, settings: InspectorSettings): void {
  const { server } = ctx
  const { path } = settings
  token ??= inspectorRequest()?.token ?? makeToken()
  const below = `${path}/`
  const isHere = (req: { readonly path: string }) => req.path === path || req.path.startsWith(below)
  const recorder = new Recorder(settings, new Redactor(settings.redact, redactedByLog(ctx)), ctx.server)
  const pages = new LivePages()
  const kept = keepForNext(recorder)
  const processes = new Processes(server)
  recorder.activities.onChange = (activity) => {
    pages.push(activity)
    kept.changed(activity)
  }
  announceOwn(server, isHere)
  announceRecorder(server, (req) => {
    const entry = recorder.ofRequest(req)
    // Without the token: the page of a failure may be seen from elsewhere, and a browser that knows the inspector has its cookie.
    return entry && `${path}#/request/${entry.id}`
  })
  const unfollow = follow(recorder, ctx, isHere)
  const restoreLog = noteLog(ctx, recorder)

  const panels = new Panels(server, recorder.redactor, () => pages.size > 0)
  const respond = responder({ server, path, guard: guardOf(token, path), recorder, panels, pages, processes })
  ctx.use(function inspector(req, res, next) {
    return isHere(req) ? respond(req, res) : next()
  })
  const address = `${path}?token=${token}`
  announcePage(server, 'inspector', address)
  ctx.onListen(() => {
    if (inspectorRequest() === undefined)
      applicationLogger(ctx.log).info(`inspector at ${new URL(address, server.url).href}`)
  })
  ctx.onReady(() => processes.report('ready'))
  ctx.onDrain(() => {
    processes.report('draining')
    pages.endAll()
  })
  ctx.onClose(async () => {
    unfollow()
    panels.stop()
    pages.endAll()
    restoreLog()
    await Promise.all([kept.end(), processes.end()])
  })
}

/** Returns the paths that the log redacts, which are redacted here as well. */
function redactedByLog({ server }: Context): readonly string[] {
  const logs = server.listing.plugins.filter(({ definition }) => definition.name === 'log')
  return logs.flatMap(({ settings }) => (settings as { redact?: readonly string[] } | undefined)?.redact ?? [])
}

/** Records the log lines of the server, its requests and plugins, each with the work to which it belongs. */
function noteLog(ctx: Context, recorder: Recorder): () => void {
  const note = ({ level, message, fields }: LogLine) => {
    // A line that cannot be recorded is logged nevertheless.
    safely(() => {
      const data = hideFields(recorder.redactor.own(fields))
      const from = recorder.ofLine(fields.reqId)
      const kept = copied(recorder.hiding(from, { title: recorder.redactor.text(message).slice(0, 2_048), data }))
      recorder.activities.add({ kind: 'log', note: level, ...kept.data }, from, kept.size)
    })
  }
  const { server } = ctx
  let before: Logger = server.logger
  const put = () => {
    if (noted.has(server.logger)) return
    before = server.logger
    server.logger = noting(before, note)
  }
  put()
  // The plugin `log` may be registered later, with a logger of its own.
  ctx.onReady(put)
  return () => {
    if (noted.has(server.logger)) server.logger = before
  }
}

/** The parts from which a log line is made. */
interface LogLine {
  readonly level: string
  readonly message: string
  readonly fields: Readonly<Record<string, unknown>>
}

const levels = new Set(['trace', 'debug', 'info', 'warn', 'error', 'fatal'])
/** Loggers that already pass their lines to a listener. */
const noted = new WeakSet<object>()

/** Returns a logger that also passes its lines to `note`, even those below its level. All other members are those of the given logger. */
function noting(logger: Logger, note: (line: LogLine) => void, bound: Record<string, unknown> = {}): Logger {
  const proxy = new Proxy(logger, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target)
      if (isLogger(value)) return noting(value, note, bound)
      if (typeof value !== 'function') return value
      if (name === 'child')
        return (fields: Record<string, unknown>, ...more: unknown[]) =>
          noting(Reflect.apply(value, target, [fields, ...more]), note, { ...bound, ...fields })
      if (typeof name !== 'string' || !levels.has(name)) return value.bind(target)
      return (first: unknown, ...more: unknown[]) => {
        note(lineOf(name, bound, first, more))
        return Reflect.apply(value, target, [first, ...more])
      }
    },
  })
  noted.add(proxy)
  return proxy
}

function isLogger(value: unknown): value is Logger {
  const { child, info } = (value ?? {}) as { child?: unknown; info?: unknown }
  return typeof value === 'object' && typeof child === 'function' && typeof info === 'function'
}

function lineOf(level: string, bound: Record<string, unknown>, first: unknown, more: readonly unknown[]): LogLine {
  if (typeof first === 'string') return { level, message: first, fields: bound }
  if (first instanceof Error)
    return { level, message: String(more[0] ?? first.message), fields: { ...bound, err: first } }
  return { level, message: String(more[0] ?? ''), fields: { ...bound, ...(first as object) } }
}
