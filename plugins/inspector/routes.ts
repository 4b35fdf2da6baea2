import { readFileSync } from 'node:fs'
import type { Kernel, Request, Response } from '../../kernel/index.ts'
import { processStore } from '../shared/development/process-report.ts'
import { baseStyle, elementsScript, htmlPage, linkedStyle, pagePolicy, skipLink } from '../shared/pages/shell.ts'
import type { Edit } from './edit.ts'
import type { Guard } from './guard.ts'
import { entryOf } from './kept.ts'
import type { LivePages } from './live.ts'
import { mapOf } from './map.ts'
import type { Panels } from './panels.ts'
import type { Processes } from './processes.ts'
import type { Recorder } from './recorder.ts'
import { replay } from './replay.ts'
import { detailsOf, exceptionsOf, registeredOf, summaryOf } from './views.ts'

/** What is needed for the responses. */
export interface Parts {
  readonly server: Kernel
  readonly path: string
  readonly guard: Guard
  readonly recorder: Recorder
  readonly panels: Panels
  readonly pages: LivePages
  readonly processes: Processes
}

const policy = pagePolicy({
  'script-src': "'self'",
  'style-src': "'self'",
  'connect-src': "'self'",
  'img-src': "'self' data:",
  'frame-src': "'self'",
})

/** Shows an email as it looks, without effects: no scripts, no loading, no forms. The page's `frame-src` keeps its links on this server. */
const emailPolicy = `sandbox; ${pagePolicy({
  'style-src': "'unsafe-inline'",
  'img-src': 'data:',
  'font-src': 'data:',
  'frame-ancestors': "'self'",
})}`

/** Maximum bytes of a body that the page sends, which is larger with a request that was changed. */
const maxBody = 16_384
const maxEdit = 16 * 1024 * 1024

/** Responds to all requests at the path of the inspector. */
export function responder(parts: Parts): (req: Request, res: Response) => Promise<unknown> {
  const { guard, path, recorder } = parts
  return async (req, res) => {
    secure(res, policy)
    const why = guard.refusal(req)
    if (why !== undefined) return refuse(res, 403, why)
    const place = req.path.slice(path.length).replace(/\/$/, '')
    if (place === '' && req.method === 'GET' && req.query.token !== undefined) {
      if (!guard.isToken(req.query.token)) return refuse(res, 403, 'this is not the token of this process')
      // The redirect removes the token from the address, which the browser keeps in its history.
      return res.setHeader('set-cookie', guard.cookie(req)).redirect(path, 303)
    }
    if (!guard.isKnown(req))
      return refuse(res, 401, `open the address with the token, which the log and "framework serve" show`)
    const respond = responders[`${req.method === 'HEAD' ? 'GET' : req.method} ${place}`]
    if (respond === undefined) return refuse(res, 404, 'there is nothing here')
    try {
      return await respond(parts, req, res)
    } catch (error) {
      // The error may be that of a panel: a store may report its address, including the password.
      return refuse(res, 400, recorder.redactor.text(error instanceof Error ? error.message : String(error)))
    }
  }
}

function secure(res: Response, policy: string): void {
  res
    .setHeader('content-security-policy', policy)
    .setHeader('cache-control', 'no-store, no-transform')
    .setHeader('x-content-type-options', 'nosniff')
    .setHeader('referrer-policy', 'no-referrer')
    // A content security policy does not cover names that are resolved in advance, such as those in links of an email.
    .setHeader('x-dns-prefetch-control', 'off')
    .setHeader('cross-origin-resource-policy', 'same-origin')
    .setHeader('cross-origin-opener-policy', 'same-origin')
}

const refuse = (res: Response, status: number, message: string) => res.status(status).json({ message })

/** Returns the page. Its links are relative, since its path may have a prefix; `base` is the last part of the path. */
const page = readFileSync(new URL('./page/page.html', import.meta.url), 'utf8')

const pageHtml = (base: string): string => {
  const body = `${skipLink}\n${page.trimEnd().replaceAll('BASE', () => base)}`
  return htmlPage({ title: 'Inspector', head: linkedStyle(`${base}/page.css`), body })
}

// The build writes these files into the code.
const script = Buffer.from(elementsScript + readFileSync(new URL('./page/page.js', import.meta.url), 'utf8'))
const style = Buffer.from(baseStyle + readFileSync(new URL('./page/page.css', import.meta.url), 'utf8'))

const responders: { readonly [place: string]: (parts: Parts, req: Request, res: Response) => unknown } = {
  'GET ': (parts, req, res) => {
    // Links are relative to the page.
    if (req.path.endsWith('/')) return res.redirect(parts.path, 308)
    return res.html(pageHtml(parts.path.slice(parts.path.lastIndexOf('/') + 1)))
  },
  'GET /page.js': (_parts, _req, res) => res.type('js').bytes(script),
  'GET /page.css': (_parts, _req, res) => res.type('css').bytes(style),
  'GET /events': ({ pages }, _req, res) => pages.open().respond(res),
  'GET /api/overview': async ({ server, recorder, panels }, _req, res) =>
    res.json({
      url: server.isListening ? server.url : undefined,
      pid: process.pid,
      keep: recorder.activities.keep,
      titles: recorder.activities.titles,
      counts: recorder.activities.counts(),
      panels: await panels.list(),
      ...registeredOf(server),
    }),
  'GET /api/list': ({ recorder }, req, res) => {
    const { activities } = recorder
    const kind = String(req.query.kind)
    const list = activities.list(kind)
    if (list === undefined) throw new Error(`kind is one of ${Object.keys(activities.titles).join(', ')}`)
    // A log line consists of its data, so lists include the data.
    return res.json(list.map((one) => (kind === 'log' ? { ...summaryOf(one), data: one.data } : summaryOf(one))))
  },
  'GET /api/activity': async ({ server, recorder, panels }, req, res) => {
    const activity = recorder.activities.find(Number(req.query.id))
    if (activity === undefined) return refuse(res, 404, 'this is no longer kept')
    const { again } = activity
    const found = again && (await panels.find(again))
    return res.json({ ...(await detailsOf(server, recorder, activity)), again: found && { ...again, ...found } })
  },
  'GET /api/exceptions': ({ recorder }, _req, res) => res.json(exceptionsOf(recorder)),
  'GET /api/email': ({ recorder }, req, res) => {
    const { view, data } = recorder.activities.find(Number(req.query.id)) ?? {}
    const html = data?.html
    if (view !== 'email' || typeof html !== 'string')
      return refuse(res, 404, 'this email has no HTML, or is no longer kept')
    secure(res, emailPolicy)
    return res.html(html)
  },
  'GET /api/panel': async ({ panels }, req, res) => {
    const panel = await panels.show(String(req.query.key))
    return panel === undefined ? refuse(res, 404, 'there is no such panel') : res.json(panel)
  },
  'POST /api/action': async ({ panels }, req, res) => {
    const { panel, action, id } = await bodyOf(req)
    const message = await panels.run(String(panel), String(action), String(id))
    return message === undefined ? refuse(res, 404, 'there is no such action') : res.json({ message })
  },
  'POST /api/replay': async ({ server, recorder }, req, res) => {
    const { id, edit } = await bodyOf(req, maxEdit)
    const activity = recorder.activities.find(Number(id))
    if (activity === undefined) return refuse(res, 404, 'this request is no longer kept')
    const made = await replay(server, recorder, activity, edit === undefined ? undefined : checkedEdit(edit))
    if (made === undefined) throw new Error('the request was sent, but it is not recorded')
    return res.json({ id: made.id, cut: made.data.cut })
  },
  'GET /api/map': async ({ server, recorder, panels }, _req, res) => {
    const { rows = [] } = (await panels.show('health.0').catch(() => undefined)) ?? {}
    return res.json(mapOf(server, recorder, new Map(rows.map(({ id, cells }) => [id, String(cells[1])]))))
  },
  'GET /api/processes': ({ processes }, _req, res) => res.json(processes.list()),
  'POST /api/entry': async ({ recorder, processes }, req, res) => {
    const { process, store, entry } = await bodyOf(req, maxEdit)
    if (store === processStore) processes.take(entry)
    else recorder.restore(entryOf(Number(process), entry))
    return res.json({})
  },
  'POST /api/clear': ({ recorder }, _req, res) => {
    recorder.activities.clear()
    recorder.exceptions.clear()
    return res.json({ message: 'Cleared.' })
  },
}

async function bodyOf(req: Request, limit = maxBody): Promise<Record<string, unknown>> {
  const body: unknown = JSON.parse(new TextDecoder().decode(await req.raw.bytes(limit)))
  if (typeof body !== 'object' || body === null) throw new Error('the body is not an object')
  return body as Record<string, unknown>
}

function checkedEdit(given: unknown): Edit {
  const { method, target, headers, body } = (given ?? {}) as { readonly [member in keyof Edit]: unknown }
  if ([method, target, headers, body ?? ''].every((one) => typeof one === 'string')) return given as Edit
  throw new Error('edit takes method, target, headers and body, which are strings')
}
