import { readFileSync } from 'node:fs'
import type { WorkerPlace } from '../../../kernel/index.ts'
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
import { cutText, redactText } from '../../shared/values/redact-text.ts'
import { safely } from '../../shared/values/safely.ts'
import { type MessageState, messageStates } from '../drivers/contract.ts'
import type { QueueEntry } from '../operations.ts'
import { type Look, pageSize, type QueueSummary } from './look.ts'

/** The part of the page's address that says what it shows. */
export interface Asked {
  readonly queue: string | undefined
  readonly id: string | undefined
  readonly state: MessageState
  readonly from: number
  readonly refresh: number | undefined
  /** Whether every message of the list is selected. */
  readonly isSelected: boolean
}

/** What every page has. */
export interface View {
  readonly asked: Asked
  readonly now: number
  /** Whether the viewer may change anything. */
  readonly canChange: boolean
  readonly worker: WorkerPlace | undefined
  /** The result of the last click. */
  readonly notice?: string | undefined
  /** Why the last click has changed nothing. */
  readonly trouble?: string | undefined
}

const style = documentStyle + readFileSync(new URL('./page.css', import.meta.url), 'utf8')

/** Loads no resources, allows only its style, and forbids other pages to frame this one in order to catch clicks. */
export const contentSecurityPolicy = pagePolicy({ 'style-src': hashOfStyle(style), 'form-action': "'self'" })

export const queryOf = (query: Readonly<Record<string, string | number>>): string =>
  String(new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)])))

interface Parts {
  readonly heading?: Markup
  readonly intro: unknown
  /** What the engine has refused. A change and its list often fail for the same reason. */
  readonly troubles?: readonly (string | undefined)[]
  readonly body: unknown
}

/** A page as HTML; `query` is its address without the time between reloads. */
function render({ asked, now, notice, trouble }: View, query: string, title: string, parts: Parts): string {
  const { head, toggle } = refreshing(asked.refresh, query)
  const zone = processZone()
  const intro = html`<p class="dim">${parts.intro} As of ${timeTag(now, zone)}; all times are in <strong>${zone}</strong>. ${toggle}</p>`
  const troubles = new Set([trouble, ...(parts.troubles ?? [])].filter((one) => one !== undefined))
  const said = [
    notice !== undefined && html`<p role="status">${notice}</p>`,
    ...Array.from(troubles, (one) => html`<p role="alert">${one}</p>`),
  ]
  const up = asked.queue !== undefined && html`<nav aria-label="Queues"><a href="?">All queues</a></nav>`
  const body = html`<main>${up}${parts.heading ?? html`<h1>${title}</h1>`}${intro}${said}${parts.body}</main>`
  return htmlPage({ title, head: `${head}<style>${style}</style>`, body: String(body) })
}

/** What an engine cannot do. */
const lacks: ReadonlyMap<string, string> = new Map([
  ['sqs', 'SQS lists only failed messages, those in the dead letter queue, and cannot pause a queue.'],
])

const memoryNote = ({ worker }: View, kinds: readonly string[]) =>
  worker !== undefined &&
  worker.of > 1 &&
  kinds.includes('memory') &&
  html`<p>Worker ${worker.number} of ${worker.of} responded. Each worker has queues in memory of its own, so another one shows other messages.</p>`

/** The page with all queues. */
export function renderQueues(queues: readonly QueueSummary[], view: View): string {
  const heads = ['Queue', 'Failed', 'Waiting', 'Active', 'Delayed', 'Oldest', 'Subscribers here', 'Engine']
  const table =
    queues.length === 0
      ? html`<p>No imported module declares a queue whose engine is configured.</p>`
      : scrollingTable('Queues', heads, queues.map(queueRow))
  const kinds = queues.map(({ kind }) => kind)
  const intro = `${plural(queues.length, 'queue')}, those with trouble first.`
  return render(view, '', 'Queues', { intro, body: [memoryNote(view, kinds), table] })
}

function queueRow({ name, kind, counts, isPaused, subscribers }: QueueSummary): Markup {
  const head = html`<th scope="row"><a href="?${queryOf({ queue: name })}">${name}</a>${isPaused && html` <span class="badge">paused</span>`}</th>`
  const rest = html`<td class="number">${subscribers}</td><td>${kind}</td>`
  const { value } = counts
  if (value === undefined) return html`<tr>${head}<td colspan="5" class="failed">${counts.trouble}</td>${rest}</tr>`
  const cells = (['failed', 'waiting', 'active', 'delayed'] as const).map((state) => {
    const mark = state === 'failed' && value.failed > 0 ? 'bad' : ''
    const link = html`<a class="${mark}" href="?${queryOf({ queue: name, state })}" aria-label="${value[state]} ${state} in ${name}">${value[state]}</a>`
    return html`<td class="number">${link}</td>`
  })
  return html`<tr>${head}${cells}<td class="number">${ageOf(value.oldest)}</td>${rest}</tr>`
}

const ageOf = (oldest: number | undefined) =>
  oldest === undefined ? 'unknown' : oldest === 0 ? 'none' : inWords(oldest)

/** The page of one queue, with the messages in a state. */
export function renderQueue(
  queue: QueueSummary,
  list: Look<{ readonly entries: readonly QueueEntry[]; readonly hasMore: boolean }>,
  view: View,
): string {
  const { name, kind, counts, isPaused, subscribers } = queue
  const { state, from } = view.asked
  const query = queryOf({ queue: name, state, from })
  const badge = isPaused && html` <span class="badge">paused</span>`
  const age = counts.value && ` Oldest ready message: ${ageOf(counts.value.oldest)}.`
  const intro = `Engine ${kind}, ${plural(subscribers, 'subscriber')} in this process.${age ?? ''}`
  const entries = list.value?.entries ?? []
  const tabs = messageStates.map((one) => {
    const text = html`${one}${counts.value && ` ${counts.value[one]}`}`
    const current = one === state && html` aria-current="page"`
    if (lacks.has(kind) && one !== 'failed') return html`<li><span class="dim">${text}</span></li>`
    return html`<li><a href="?${queryOf({ queue: name, state: one })}"${current}>${text}</a></li>`
  })
  const body = [
    memoryNote(view, [kind]),
    lacks.has(kind) && html`<p>${lacks.get(kind)}</p>`,
    view.canChange && counts.value !== undefined && queueForms(queue, query),
    html`<nav aria-label="Messages by state"><ul>${tabs}</ul></nav>`,
    list.value !== undefined && entries.length === 0 && html`<p>No ${state} message${from > 0 && ' here'}.</p>`,
    entries.length > 0 && messageTable(queue, entries, view, query),
    list.value !== undefined && pages(name, view.asked, entries.length, list.value.hasMore),
  ]
  const troubles = [counts.trouble, list.trouble]
  return render(view, query, `Queue ${name}`, { intro, heading: html`<h1>${name}${badge}</h1>`, troubles, body })
}

const button = (action: string, text: string, kind = '') =>
  html`<button name="do" value="${action}" class="${kind}">${text}</button>`

/** What can be done with a queue as a whole. */
function queueForms({ kind, isPaused }: QueueSummary, query: string): Markup {
  const states = lacks.has(kind) ? ['failed'] : messageStates.filter((state) => state !== 'active')
  const boxes = states.map(
    (state) => html`<label><input type="checkbox" name="states" value="${state}"> ${state}</label> `,
  )
  const pause = isPaused ? button('resume', 'Resume') : button('pause', 'Pause')
  return html`<div class="bar">${isPaused !== undefined && !lacks.has(kind) && html`<form method="post" action="?${query}">${pause}</form>`}<details><summary>Empty…</summary><form method="post" action="?${query}"><fieldset><legend>Messages that are</legend>${boxes}</fieldset>${button('empty', 'Remove all of these for good', 'danger')}</form></details></div>`
}

function messageTable(queue: QueueSummary, entries: readonly QueueEntry[], view: View, query: string): Markup {
  const { canChange, asked } = view
  const { state, isSelected } = asked
  const canSelect = canChange && state !== 'active'
  const heads = [
    ...(canSelect
      ? [html`<a href="?${query}&amp;select=all" aria-label="Select all messages of this page">All</a>`]
      : []),
    ...['Message', 'Published', 'Attempts'],
    ...(state === 'delayed' ? ['Due'] : []),
    ...(state === 'failed' ? ['Error'] : []),
    'Payload',
  ]
  const zone = processZone()
  const rows = entries.map((entry) => {
    const { id, key = id, publishedAt, dueAt, errors, payload } = entry
    const name = cutText(key, 80)
    const box = html`<td><input type="checkbox" name="id" value="${id}" aria-label="Select ${name}"${isSelected && html` checked`}></td>`
    return html`<tr>${canSelect && box}<th scope="row"><a href="?${queryOf({ queue: queue.name, id })}">${name}</a></th><td>${timeOf(publishedAt, zone)}</td><td class="number">${attemptsOf(entry)}</td>${state === 'delayed' && html`<td>${timeOf(dueAt, zone)}</td>`}${state === 'failed' && html`<td class="failed"><span class="short">${errorText(errors.at(-1)?.message, 300)}</span></td>`}<td><code class="short">${payloadText(payload, 200)}</code></td></tr>`
  })
  const table = scrollingTable(`${state} messages`, heads, rows)
  if (!canSelect) return table
  const again = state === 'failed' && [
    button('retry', 'Send selected again'),
    button('retry-all', 'Send all failed again'),
  ]
  return html`<form method="post" action="?${query}">${table}<div class="bar">${again}${removal('Remove the selected for good', 'Remove selected…')}</div></form>`
}

const removal = (text: string, summary: string) =>
  html`<details><summary>${summary}</summary>${button('remove', text, 'danger')}</details>`

function pages(name: string, { state, from }: Asked, shown: number, hasMore: boolean): Markup {
  const link = (to: number, text: string) => html`<a href="?${queryOf({ queue: name, state, from: to })}">${text}</a>`
  const range = shown > 0 && html`<span class="dim">${from + 1} to ${from + shown}</span>`
  return html`<nav aria-label="Pages" class="bar">${from > 0 && link(Math.max(0, from - pageSize), 'Previous')}${range}${hasMore && link(from + pageSize, 'Next')}</nav>`
}

/** The page of one message. */
export function renderMessage(queue: string, look: Look<QueueEntry | undefined>, view: View): string {
  const { asked, canChange } = view
  const entry = look.value
  const back = (state: MessageState) => queryOf({ queue, state })
  const shown =
    entry === undefined
      ? look.trouble === undefined && html`<p>This message no longer exists: it is done, or was removed.</p>`
      : [
          messageTerms(entry),
          canChange &&
            entry.state !== 'active' &&
            html`<form method="post" action="?${back(entry.state)}" class="bar"><input type="hidden" name="id" value="${entry.id}">${entry.state === 'failed' && button('retry', 'Send again')}${removal('Remove this message for good', 'Remove…')}</form>`,
          html`<h2>Payload</h2><pre class="card" tabindex="0" aria-label="Payload">${payloadText(entry.payload, 50_000, 2)}</pre>`,
          errorList(entry),
        ]
  const intro = html`Message of the queue <a href="?${back(entry?.state ?? 'failed')}">${queue}</a>.`
  const query = queryOf({ queue, id: asked.id ?? '' })
  return render(view, query, `Message ${cutText(entry?.key ?? asked.id ?? '', 80)}`, {
    intro,
    troubles: [look.trouble],
    body: shown,
  })
}

function messageTerms(entry: QueueEntry): Markup {
  const { id, key, state, publishedAt, dueAt, expiresAt, version, trace } = entry
  const zone = processZone()
  const known = [
    ['State', html`<span class="${state === 'failed' && 'failed'}">${state}</span>`],
    ['Attempts', attemptsOf(entry)],
    ['Published', timeOf(publishedAt, zone)],
    ['Due', dueAt !== undefined && timeOf(dueAt, zone)],
    ['Expires', expiresAt !== undefined && timeOf(expiresAt, zone)],
    ['Id', html`<code>${id}</code>`],
    ['Id of the publisher', key !== undefined && key !== id && html`<code>${key}</code>`],
    ['Version', version],
    ['Trace', trace && html`<code>${trace}</code>`],
  ] as const
  return termList(known.filter(([, value]) => value !== undefined && value !== false))
}

function errorList({ errors }: QueueEntry): Markup {
  if (errors.length === 0) return html`<h2>Errors</h2><p>The engine has kept none.</p>`
  const items = errors.map(
    ({ message, stack }, i) =>
      html`<details${i === errors.length - 1 && html` open`}><summary>${errorText(message, 300)}</summary><pre class="card" tabindex="0" aria-label="Error ${i + 1}">${errorText(stack ?? message, 10_000)}</pre></details>`,
  )
  return html`<h2>Errors, the oldest first</h2>${items}`
}

const timeOf = (time: number | undefined, zone: string) => (time === undefined ? 'unknown' : timeTag(time, zone))

const attemptsOf = ({ attempt, attempts }: QueueEntry) =>
  attempts === undefined ? attempt : `${attempt} of ${attempts}`

/** Messages of drivers contain addresses, and those of libraries whatever they have read. */
const errorText = (text: string | undefined, most: number) => redactText(cutText(String(text ?? ''), most))

const payloadText = (payload: unknown, most: number, indent?: number) =>
  cutText(safely(() => JSON.stringify(payload, null, indent)) ?? String(payload), most)
