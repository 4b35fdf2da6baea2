import { readFileSync } from 'node:fs'
import type { WorkerPlace } from '../../../kernel/index.ts'
import type { MessageState } from '../../shared/engines/contract.ts'
import {
  html,
  inWords,
  type Markup,
  plural,
  refreshing,
  scrollingTable,
  termList,
  timeTag,
} from '../../shared/pages/markup.ts'
import { documentStyle, hashOfStyle, htmlPage, pagePolicy } from '../../shared/pages/shell.ts'
import { cutText, redactText } from '../../shared/values/redact-text.ts'
import { safely } from '../../shared/values/safely.ts'
import type { QueueEntry } from '../operations.ts'
import type { Look, QueueSummary } from './look.ts'

/** How many messages a page lists; the page receives one more if there are others. */
export const pageSize = 50

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
  /** The zone of every time on the page. */
  readonly zone: string
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

/** The states in the order of the page. */
const states = ['failed', 'waiting', 'active', 'delayed'] as const

export const queryOf = (query: Readonly<Record<string, string | number>>): string =>
  String(new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)])))

interface Parts {
  readonly title: string
  /** The rest of the address, without the time between reloads. */
  readonly query?: string
  readonly heading?: Markup
  readonly intro: unknown
  /** What engines have refused. A change and its list often fail for the same reason. */
  readonly troubles: readonly (string | undefined)[]
  readonly body: unknown
}

function render({ asked, now, zone, canChange, notice, trouble }: View, parts: Parts): string {
  const { title, query, intro, heading = html`<h1>${title}</h1>`, body } = parts
  const { head, toggle } = refreshing(asked.refresh, query)
  const up = asked.queue !== undefined && html`<nav aria-label="Queues"><a href="?">All queues</a></nav>`
  const times = html`As of ${timeTag(now, zone)}; all times are in <strong>${zone}</strong>. ${toggle}`
  const troubles = new Set([trouble, ...parts.troubles].filter((one) => one !== undefined))
  const said = [
    notice !== undefined && html`<p role="status">${notice}</p>`,
    ...Array.from(troubles, (one) => html`<p role="alert">${one}</p>`),
  ]
  const locked = !canChange && html`<p>To change anything, open the page under localhost, or give it middlewares.</p>`
  const main = html`<main>${up}${heading}<p class="dim">${intro} ${times}</p>${locked}${said}${body}</main>`
  return htmlPage({ title, head: `${head}<style>${style}</style>`, body: main.text })
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
  // One message for each engine that is away, and not for each of its queues.
  const away = new Map(queues.filter(isAway).map(({ kind, counts }) => [kind, counts.trouble]))
  const note = memoryNote(
    view,
    queues.map(({ kind }) => kind),
  )
  const intro = `${plural(queues.length, 'queue')}, those with trouble first.`
  return render(view, { title: 'Queues', intro, troubles: [...away.values()], body: [note, table] })
}

const isAway = ({ counts }: QueueSummary) => counts.value === undefined && counts.status === 503

function queueRow(queue: QueueSummary): Markup {
  const { name, kind, counts, isPaused, subscribers } = queue
  const { value } = counts
  const count = (state: MessageState) =>
    value?.[state] === 0
      ? html`<span class="dim">0</span>`
      : html`<a class="${state}" href="?${queryOf({ queue: name, state })}" aria-label="${value?.[state]} ${state} in ${name}">${value?.[state]}</a>`
  const cells =
    value === undefined
      ? html`<td colspan="5" class="failed">${isAway(queue) ? 'The engine does not respond.' : counts.trouble}</td>`
      : [...states.map((state) => html`<td>${count(state)}</td>`), html`<td>${ageOf(value.oldest)}</td>`]
  return html`<tr><th scope="row"><a href="?${queryOf({ queue: name })}">${name}</a>${badgeOf(isPaused)}</th>${cells}<td>${subscribers}</td><td>${kind}</td></tr>`
}

const badgeOf = (isPaused: boolean | undefined) => isPaused && html` <span class="badge">paused</span>`

const ageOf = (oldest: number | undefined) =>
  oldest === undefined ? 'unknown' : oldest === 0 ? 'none' : inWords(oldest)

/** The page of one queue, with the messages in a state. */
export function renderQueue(queue: QueueSummary, list: Look<readonly QueueEntry[]>, view: View): string {
  const { name, kind, counts, isPaused, subscribers } = queue
  const { state, from } = view.asked
  const query = queryOf({ queue: name, state, from })
  const tabs = states.map((one) => {
    const text = counts.value === undefined ? one : `${one} ${counts.value[one]}`
    if (lacks.has(kind) && one !== 'failed') return html`<li><span class="dim">${text}</span></li>`
    return html`<li><a href="?${queryOf({ queue: name, state: one })}"${one === state && html` aria-current="page"`}>${text}</a></li>`
  })
  const age = counts.value && ` Oldest ready message: ${ageOf(counts.value.oldest)}.`
  return render(view, {
    title: `Queue ${name}`,
    query,
    heading: html`<h1>${name}${badgeOf(isPaused)}</h1>`,
    intro: `Engine ${kind}, ${plural(subscribers, 'subscriber')} in this process.${age ?? ''}`,
    troubles: [counts.trouble, list.trouble],
    body: [
      memoryNote(view, [kind]),
      lacks.has(kind) && html`<p>${lacks.get(kind)}</p>`,
      view.canChange && counts.value !== undefined && queueForms(queue, query),
      html`<nav aria-label="Messages by state"><ul>${tabs}</ul></nav>`,
      list.value !== undefined && messages(name, list.value, view, query),
    ],
  })
}

const button = (action: string, text: string) => html`<button name="do" value="${action}">${text}</button>`
const form = (query: string, content: unknown) => html`<form method="post" action="?${query}">${content}</form>`
/** A button for what cannot be undone, which takes two clicks. */
const twice = (summary: string, content: unknown) =>
  html`<details><summary>${summary}</summary><div class="danger">${content}</div></details>`

/** What can be done with a queue as a whole. */
function queueForms({ kind, isPaused }: QueueSummary, query: string): Markup {
  const canPause = isPaused !== undefined && !lacks.has(kind)
  const boxes = states
    .filter((state) => state === 'failed' || (state !== 'active' && !lacks.has(kind)))
    .map((state) => html`<label><input type="checkbox" name="states" value="${state}"> ${state}</label> `)
  const empty = html`<fieldset><legend>Messages that are</legend>${boxes}</fieldset>${button('empty', 'Remove all of these for good')}`
  const pause = isPaused ? button('resume', 'Resume') : button('pause', 'Pause')
  return html`<div class="bar">${canPause && form(query, pause)}${twice('Empty…', form(query, empty))}</div>`
}

/** A list of messages, with what can be done with them. */
function messages(queue: string, list: readonly QueueEntry[], { asked, canChange, zone }: View, query: string): Markup {
  const { state, from, isSelected } = asked
  const entries = list.slice(0, pageSize)
  const link = (to: number, text: string) => html`<a href="?${queryOf({ queue, state, from: to })}">${text}</a>`
  const before = from > 0 && link(Math.max(0, from - pageSize), 'Previous')
  if (entries.length === 0) return html`<p>No ${state} message${from > 0 && ' here'}. ${before}</p>`
  const canSelect = canChange && state !== 'active'
  const all = html`<a href="?${query}&amp;select=all" aria-label="Select all messages of this page">All</a>`
  const heads = [canSelect && all, 'Message', state === 'failed' && 'Error', 'Payload', state === 'delayed' && 'Due']
  const rows = entries.map((entry) => {
    const { id, publishedAt, dueAt, errors, payload } = entry
    const name = nameOf(entry)
    const box = html`<td><input type="checkbox" name="id" value="${id}" aria-label="Select ${name}"${isSelected && html` checked`}></td>`
    const error = html`<td class="failed"><span class="short">${errorText(errors.at(-1)?.message, 300)}</span></td>`
    return html`<tr>${canSelect && box}<th scope="row"><a href="?${queryOf({ queue, id })}">${name}</a></th>${state === 'failed' && error}<td><code class="short">${payloadText(payload, 200)}</code></td>${state === 'delayed' && html`<td>${timeOf(dueAt, zone)}</td>`}<td>${timeOf(publishedAt, zone)}</td><td>${attemptsOf(entry)}</td></tr>`
  })
  const shown = [...heads, 'Published', 'Attempts'].filter((one) => one !== false)
  const table = scrollingTable(`${state} messages`, shown, rows)
  const again = [button('retry', 'Send selected again'), button('retry-all', 'Send all failed again')]
  const remove = twice('Remove selected…', button('remove', 'Remove the selected for good'))
  const bar = html`<div class="bar">${state === 'failed' && again}${remove}</div>`
  const pages = html`<nav aria-label="Pages" class="bar">${before}<span class="dim">${from + 1} to ${from + entries.length}</span>${list.length > pageSize && link(from + pageSize, 'Next')}</nav>`
  return html`${canSelect ? form(query, [table, bar]) : table}${pages}`
}

/** The page of one message. */
export function renderMessage(queue: string, look: Look<QueueEntry | undefined>, view: View): string {
  const { value: entry, trouble } = look
  const id = view.asked.id!
  const isGone = entry === undefined && trouble === undefined
  const back = queryOf({ queue, state: entry?.state ?? 'failed' })
  return render(view, {
    title: `Message ${entry === undefined ? cutText(id, 80) : nameOf(entry)}`,
    query: queryOf({ queue, id }),
    intro: html`Message of the queue <a href="?${back}">${queue}</a>.`,
    troubles: [trouble],
    body: [
      isGone && html`<p>This message no longer exists: it is done, or was removed.</p>`,
      entry !== undefined && messageParts(entry, view, back),
    ],
  })
}

function messageParts(entry: QueueEntry, { canChange, zone }: View, back: string): Markup {
  const { id, key, state, publishedAt, dueAt, expiresAt, version, trace, errors } = entry
  const terms = [
    ['State', html`<span class="${state}">${state}</span>`],
    ['Attempts', attemptsOf(entry)],
    ['Published', timeOf(publishedAt, zone)],
    ['Due', dueAt !== undefined && timeOf(dueAt, zone)],
    ['Expires', expiresAt !== undefined && timeOf(expiresAt, zone)],
    ['Id', html`<code>${id}</code>`],
    ['Id of the publisher', key !== undefined && key !== id && html`<code>${key}</code>`],
    ['Version', version],
    ['Trace', trace !== undefined && html`<code>${trace}</code>`],
  ] as const
  const again = state === 'failed' && button('retry', 'Send again')
  const remove = twice('Remove…', button('remove', 'Remove this message for good'))
  const change = html`<div class="bar"><input type="hidden" name="id" value="${id}">${again}${remove}</div>`
  const failures = errors.map(
    ({ message, stack }, i) =>
      html`<details${i === errors.length - 1 && html` open`}><summary>${errorText(message, 300)}</summary>${block(`Error ${i + 1}`, errorText(stack ?? message, 10_000))}</details>`,
  )
  const none = html`<p>The engine has kept none.</p>`
  return html`${termList(terms.filter(([, value]) => value !== false))}${canChange && state !== 'active' && form(back, change)}<h2>Payload</h2>${block('Payload', payloadText(entry.payload, 50_000, 2))}<h2>Errors, the oldest first</h2>${errors.length > 0 ? failures : none}`
}

const block = (label: string, text: string) =>
  html`<pre class="card" role="region" tabindex="0" aria-label="${label}">${text}</pre>`

const nameOf = ({ id, key = id }: QueueEntry) => cutText(key, 80)

const timeOf = (time: number | undefined, zone: string) => (time === undefined ? 'unknown' : timeTag(time, zone))

const attemptsOf = ({ attempt, attempts }: QueueEntry) =>
  attempts === undefined ? attempt : `${attempt} of ${attempts}`

/** Messages of drivers contain addresses, and those of libraries whatever they have read. */
const errorText = (text: string | undefined, most: number) => redactText(cutText(String(text ?? ''), most))

/** The members with the name of a secret are redacted by now; a text may contain an address with a password. */
const payloadText = (payload: unknown, most: number, indent?: number) =>
  redactText(cutText(safely(() => JSON.stringify(payload, null, indent)) ?? String(payload), most))
