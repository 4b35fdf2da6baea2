import { readFileSync } from 'node:fs'
import { baseStyle, escapeHtml, hashOfStyle, htmlPage, pagePolicy } from '../../shared/pages/shell.ts'
import type { CronJobInfo, CronRecord } from '../jobs/run.ts'

/** The data of the page, apart from the jobs. */
export interface PageView {
  readonly now: Date
  /** The zone of every time on the page, a name from the IANA database. */
  readonly timezone: string
  /** Whether the viewer may run jobs. */
  readonly canRun: boolean
  /** Seconds between reloads. */
  readonly refresh: number | undefined
  /** The result of the last click. */
  readonly notice: string | undefined
  describe(pattern: string): string
}

const style = baseStyle + readFileSync(new URL('./page.css', import.meta.url), 'utf8')

/** Loads no resources, allows only the style above, and forbids other pages to frame this one in order to catch clicks. */
export const contentSecurityPolicy = pagePolicy({ 'style-src': hashOfStyle(style), 'form-action': "'self'" })

/** Returns the page as HTML. Every value that comes from the application is escaped. */
export function renderPage(jobs: readonly CronJobInfo[], view: PageView): string {
  const refresh =
    view.refresh === undefined
      ? ''
      : `<meta http-equiv="refresh" content="${view.refresh};url=?refresh=${view.refresh}">`
  const toggle =
    view.refresh === undefined
      ? '<a href="?refresh=10">Refresh every 10 seconds</a>'
      : `Refreshes every ${view.refresh} seconds. <a href="?">Stop refreshing</a>`
  const notice = view.notice === undefined ? '' : `<p role="status">${escapeHtml(view.notice)}</p>`
  const list = jobs.length === 0 ? '<p>No job is running.</p>' : jobs.map((job) => article(job, view)).join('')
  const body = `<main><h1>Scheduled jobs</h1><p class="dim">${plural(jobs.length, 'job')}, as of ${timeTag(view.now, view)}. All times are in <strong>${escapeHtml(view.timezone)}</strong>. ${toggle}</p>${notice}${list}</main>`
  return htmlPage({ title: 'Scheduled jobs', head: `${refresh}<style>${style}</style>`, body })
}

function article(job: CronJobInfo, view: PageView): string {
  const { name, pattern, timezone, state, runningSince: since, next, runs } = job
  const [last] = runs
  const described = view.describe(pattern)
  // A pattern is interpreted in the zone of its job, which may differ from the zone of the page.
  const zone = `<span class="dim">in ${escapeHtml(timezone ?? ofProcess())}</span>`
  const when = `<code>${escapeHtml(pattern)}</code>${described === '' ? '' : `<br>${escapeHtml(described)}`}<br>${zone}`
  const due =
    next === undefined ? 'none' : `${timeTag(next, view)} <span class="dim">(${within(next, view.now)})</span>`
  const lastly =
    last === undefined ? 'none yet' : `${timeTag(last.startedAt, view)}, ${outcome(last)}, ${duration(last.durationMs)}`
  const run = view.canRun
    ? `<form method="post" action="?run=${escapeHtml(encodeURIComponent(name))}"><button aria-label="Run ${escapeHtml(name)} now">Run now</button></form>`
    : ''
  return `<article class="card"><header><h2>${escapeHtml(name)}</h2>${run}</header><dl>${[
    ['When', when],
    ['State', since === undefined ? state : `${state} since ${timeTag(since, view)}`],
    ['Next run', due],
    ['Last run', lastly],
    ['Ticks', escapeHtml(counted(job))],
  ]
    .map(([term, text]) => `<div><dt>${term}</dt><dd>${text}</dd></div>`)
    .join('')}</dl>${history(job, view)}</article>`
}

function history({ name, runs }: CronJobInfo, view: PageView): string {
  if (runs.length === 0) return ''
  const rows = runs.map(
    (run) =>
      `<tr><td>${timeTag(run.scheduledAt, view)}</td><td>${timeTag(run.startedAt, view)}</td><td>${duration(run.durationMs)}</td><td>${outcome(run)}</td><td>${escapeHtml(run.error ?? '')}</td></tr>`,
  )
  const heads = ['Tick', 'Started', 'Duration', 'Outcome', 'Error'].map((head) => `<th scope="col">${head}</th>`)
  return `<details><summary>Last ${plural(runs.length, 'run')}</summary><div class="wide" role="region" tabindex="0" aria-label="Last runs of ${escapeHtml(name)}"><table><thead><tr>${heads.join('')}</tr></thead><tbody>${rows.join('')}</tbody></table></div></details>`
}

function counted({ counts }: CronJobInfo): string {
  const { ok, failed, skipped, missed, elsewhere, unlocked } = counts
  const all = { ok, failed, skipped, missed, 'run elsewhere': elsewhere, 'without lock': unlocked }
  const shown = Object.entries(all).filter(([what, count]) => count > 0 || what === 'ok')
  return shown.map(([what, count]) => `${count} ${what}`).join(', ')
}

const plural = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`

const outcome = ({ outcome }: CronRecord) => `<span class="${outcome}">${outcome}</span>`

// A page shows hundreds of times, and creating a format takes as long as formatting thirty of them.
const formats = new Map<string, Intl.DateTimeFormat>()

function formatFor(timeZone: string): Intl.DateTimeFormat {
  const format = formats.get(timeZone) ?? new Intl.DateTimeFormat('en-GB', { ...styles, timeZone })
  formats.set(timeZone, format)
  return format
}

const styles = { dateStyle: 'medium', timeStyle: 'medium' } as const

/** Returns the zone of the process, the default. */
export const ofProcess = (): string => new Intl.DateTimeFormat().resolvedOptions().timeZone

function timeTag(time: Date, { timezone }: PageView): string {
  const text = formatFor(timezone).format(time)
  return `<time datetime="${time.toISOString()}">${escapeHtml(text)}</time>`
}

function within(time: Date, now: Date): string {
  const ms = time.getTime() - now.getTime()
  return ms <= 0 ? 'now' : `in ${duration(ms)}`
}

function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`
  const minutes = Math.round(ms / 60_000)
  if (minutes < 60) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.round(hours / 24)} days`
}
