import { elementsScript } from '../../shared/pages/elements.ts'
import { pageViews } from './views.ts'

/** The script of the page: plain JavaScript for browsers, so it is a string here. */
export const pageScript = `'use strict'
{
const base = document.currentScript.dataset.base
const main = document.getElementById('main')
const nav = document.getElementById('nav')
const live = document.getElementById('live')
const noticeBox = document.getElementById('notice')
${elementsScript}
let noticeTimer
function notice(text) {
  clearTimeout(noticeTimer)
  noticeBox.textContent = text
  noticeTimer = setTimeout(() => { noticeBox.textContent = '' }, 8000)
}

async function ask(path, body) {
  const given = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
  const res = await fetch(base + 'api/' + path, { credentials: 'same-origin', ...given })
  const received = await res.json()
  if (!res.ok) throw new Error(received.message)
  return received
}
const attempt = (work) => async () => {
  try { await work() } catch (error) { notice(error.message) }
}

/** The titles of the lists, by kind. */
let titles = {}
let kinds = []
/** The newest first, by kind. */
const lists = new Map()
let overview
let counts = {}

const two = (number) => String(number).padStart(2, '0')
const clock = (at) => {
  const time = new Date(at)
  return two(time.getHours()) + ':' + two(time.getMinutes()) + ':' + two(time.getSeconds())
}
const timeOf = (at) => h('time', { datetime: new Date(at).toISOString(), title: new Date(at).toLocaleString() }, clock(at))
const span = (ms) => ms === undefined || ms === null ? '' : ms < 1 ? ms.toFixed(2) + ' ms' : ms < 100 ? ms.toFixed(1) + ' ms' : ms < 10000 ? Math.round(ms) + ' ms' : (ms / 1000).toFixed(1) + ' s'
const classOf = (one) => {
  if (one.kind === 'log') return one.note === 'error' || one.note === 'fatal' ? 'failed' : one.note === 'warn' ? 'running' : 'dim'
  if (one.outcome !== 'ok') return one.outcome
  return one.kind === 'request' ? (parseInt(one.note) >= 400 ? 'running' : 'ok') : 'dim'
}
const noteOf = (one) => one.outcome === 'running' && one.note === '' ? 'running' : one.note

function row(one) {
  return h('li', {}, h('a', { href: '#/' + one.kind + '/' + one.id },
    timeOf(one.at),
    h('span', { class: 'title', title: one.title }, one.title),
    h('span', { class: classOf(one) }, noteOf(one)),
    h('span', { class: 'ms' }, one.kind === 'log' || one.kind === 'cache' ? '' : span(one.ms))))
}

/** The parts of the address of the shown view; the first visit has none. */
const placeNow = () => (location.hash || '#/request').split('/')
const counted = (number, what) => number + ' ' + what + (number === 1 ? '' : 's')

function drawNav() {
  const here = placeNow()
  const link = (place, title, count) => h('li', {}, h('a', {
    href: '#/' + place, 'aria-current': here[1] === place.split('/')[0] && (here[1] !== 'panel' || here[2] === place.split('/')[1]) ? 'page' : undefined,
  }, title, count ? h('span', { class: 'count' }, String(count)) : undefined))
  const shown = kinds.filter((kind) => kind === 'request' || kind === 'log' || counts[kind] > 0 || here[1] === kind)
  const panels = (overview ? overview.panels : [])
  const focused = document.activeElement && nav.contains(document.activeElement) ? document.activeElement.getAttribute('href') : undefined
  nav.replaceChildren(...shown.map((kind) => link(kind, titles[kind], counts[kind])),
    h('li', { class: 'group' }, 'Application'), link('routes', 'Routes'), link('plugins', 'Plugins'),
    ...(panels.length ? [h('li', { class: 'group' }, 'Panels')] : []), ...panels.map(({ key, title }) => link('panel/' + encodeURIComponent(key), title)))
  if (focused) nav.querySelector('[href="' + CSS.escape(focused) + '"]')?.focus()
}

/** Bounded like the lists of the server. */
function merge(changed) {
  for (const one of changed) {
    if (!lists.has(one.kind)) {
      counts[one.kind] = Math.min((counts[one.kind] || 0) + (one.outcome === 'running' || one.ms === 0 ? 1 : 0), overview.keep)
      continue
    }
    const list = lists.get(one.kind)
    const at = list.findIndex(({ id }) => id === one.id)
    if (at >= 0) list[at] = { ...list[at], ...one }
    else list.unshift(one)
    list.length = Math.min(list.length, overview.keep)
    counts[one.kind] = list.length
  }
}

let current = { changed() {} }
let asked = 0
async function show() {
  const [, place, rest] = placeNow()
  const turn = ++asked
  try {
    if (overview === undefined) await load()
    const view = rest !== undefined && kinds.includes(place) ? await detailView(Number(rest))
      : kinds.includes(place) ? await listView(place)
      : place === 'routes' ? routesView() : place === 'plugins' ? pluginsView()
      : place === 'panel' ? await panelView(decodeURIComponent(rest)) : await listView('request')
    if (turn !== asked) return
    current = view
    main.replaceChildren(...view.nodes)
    document.title = (view.title || 'Inspector') + ' · Inspector'
    scrollTo(0, 0)
  } catch (error) {
    if (turn !== asked) return
    current = { changed() {} }
    main.replaceChildren(h('p', { class: 'failed' }, error.message))
  }
  drawNav()
  nav.querySelector('[aria-current]')?.scrollIntoView({ inline: 'nearest', block: 'nearest' })
}

async function load() {
  overview = await ask('overview')
  counts = overview.counts
  titles = overview.titles
  kinds = Object.keys(titles)
  document.getElementById('where').textContent = (overview.url || '') + ' · process ' + overview.pid
}

let events
function connect() {
  events = new EventSource(base + 'events')
  let isFirst = true
  events.addEventListener('hello', () => {
    live.className = 'on'
    live.textContent = 'live'
    // What has happened in between, perhaps in another version of the application.
    if (!isFirst) { overview = undefined; lists.clear(); current.isOld = true; if (!current.stays) show() }
    isFirst = false
  })
  events.addEventListener('changed', ({ data }) => {
    if (overview === undefined) return
    const changed = JSON.parse(data)
    merge(changed)
    drawNav()
    current.changed(changed)
  })
  events.addEventListener('error', () => {
    live.className = ''
    live.textContent = 'reconnecting'
    if (events.readyState === EventSource.CLOSED) setTimeout(connect, 2000)
  })
}

document.getElementById('clear').addEventListener('click', attempt(async () => {
  await ask('clear', {})
  lists.clear()
  overview = undefined
  if (location.hash.split('/').length > 2) location.hash = '#/request'
  else await show()
}))
${pageViews}
addEventListener('hashchange', () => { show().then(() => main.focus({ preventScroll: true })) })
addEventListener('pagehide', () => events?.close())
show().then(connect)
}
`
