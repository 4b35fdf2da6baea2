import {
  html,
  inWords,
  type Markup,
  plural,
  processZone,
  refreshing,
  scrollingTable,
  termList,
  timeTag,
} from '../../shared/pages/markup.ts'
import { documentStyle, hashOfStyle, htmlPage, pagePolicy } from '../../shared/pages/shell.ts'
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

/** Loads no resources, allows only its style, and forbids other pages to frame this one in order to catch clicks. */
export const contentSecurityPolicy = pagePolicy({ 'style-src': hashOfStyle(documentStyle), 'form-action': "'self'" })

/** Returns the page as HTML. */
export function renderPage(jobs: readonly CronJobInfo[], view: PageView): string {
  const { now, timezone, notice } = view
  const { head, toggle } = refreshing(view.refresh)
  const list = jobs.length === 0 ? html`<p>No job is running.</p>` : jobs.map((job) => article(job, view))
  const body = html`<main><h1>Scheduled jobs</h1><p class="dim">${plural(jobs.length, 'job')}, as of ${timeTag(now, timezone)}. All times are in <strong>${timezone}</strong>. ${toggle}</p>${notice !== undefined && html`<p role="status">${notice}</p>`}${list}</main>`
  return htmlPage({ title: 'Scheduled jobs', head: `${head}<style>${documentStyle}</style>`, body: String(body) })
}

function article(job: CronJobInfo, view: PageView): Markup {
  const { name, pattern, timezone, state, runningSince: since, next, runs } = job
  const [last] = runs
  const described = view.describe(pattern)
  const time = (one: Date) => timeTag(one, view.timezone)
  // A pattern is interpreted in the zone of its job, which may differ from the zone of the page.
  const zone = html`<span class="dim">in ${timezone ?? processZone()}</span>`
  const run = html`<form method="post" action="?run=${encodeURIComponent(name)}"><button aria-label="Run ${name} now">Run now</button></form>`
  const terms = termList([
    ['When', html`<code>${pattern}</code>${described !== '' && html`<br>${described}`}<br>${zone}`],
    ['State', since === undefined ? state : html`${state} since ${time(since)}`],
    [
      'Next run',
      next === undefined ? 'none' : html`${time(next)} <span class="dim">(${within(next, view.now)})</span>`,
    ],
    [
      'Last run',
      last === undefined ? 'none yet' : html`${time(last.startedAt)}, ${outcome(last)}, ${inWords(last.durationMs)}`,
    ],
    ['Ticks', counted(job)],
  ])
  return html`<article class="card"><header><h2>${name}</h2>${view.canRun && run}</header>${terms}${history(job, view)}</article>`
}

function history({ name, runs }: CronJobInfo, { timezone }: PageView): Markup | undefined {
  if (runs.length === 0) return undefined
  const rows = runs.map(
    (run) =>
      html`<tr><td>${timeTag(run.scheduledAt, timezone)}</td><td>${timeTag(run.startedAt, timezone)}</td><td>${inWords(run.durationMs)}</td><td>${outcome(run)}</td><td>${run.error}</td></tr>`,
  )
  const heads = ['Tick', 'Started', 'Duration', 'Outcome', 'Error']
  return html`<details><summary>Last ${plural(runs.length, 'run')}</summary>${scrollingTable(`Last runs of ${name}`, heads, rows)}</details>`
}

function counted({ counts }: CronJobInfo): string {
  const { ok, failed, skipped, missed, elsewhere, unlocked } = counts
  const all = { ok, failed, skipped, missed, 'run elsewhere': elsewhere, 'without lock': unlocked }
  const shown = Object.entries(all).filter(([what, count]) => count > 0 || what === 'ok')
  return shown.map(([what, count]) => `${count} ${what}`).join(', ')
}

const outcome = ({ outcome }: CronRecord) => html`<span class="${outcome}">${outcome}</span>`

function within(time: Date, now: Date): string {
  const ms = time.getTime() - now.getTime()
  return ms <= 0 ? 'now' : `in ${inWords(ms)}`
}
