/* global h: from plugins/shared/pages/elements.ts, which is sent before this */
const base = new URL('./', import.meta.url).href
const main = document.getElementById('main')
const nav = document.getElementById('nav')
const live = document.getElementById('live')
const noticeBox = document.getElementById('notice')

let noticeTimer
function notice(text) {
  clearTimeout(noticeTimer)
  noticeBox.textContent = text
  noticeTimer = setTimeout(() => {
    noticeBox.textContent = ''
  }, 8000)
}

async function ask(path, body) {
  const given = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
  const res = await fetch(`${base}api/${path}`, { credentials: 'same-origin', ...given })
  const received = await res.json()
  if (!res.ok) throw new Error(received.message)
  return received
}
const attempt = (work) => async () => {
  try {
    await work()
  } catch (error) {
    notice(error.message)
  }
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
  return `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`
}
const timeOf = (at) =>
  h('time', { datetime: new Date(at).toISOString(), title: new Date(at).toLocaleString() }, clock(at))
const span = (ms) =>
  ms === undefined || ms === null
    ? ''
    : ms < 1
      ? `${ms.toFixed(2)} ms`
      : ms < 100
        ? `${ms.toFixed(1)} ms`
        : ms < 10000
          ? `${Math.round(ms)} ms`
          : ms < 600000
            ? `${(ms / 1000).toFixed(1)} s`
            : `${(ms / 3600000).toFixed(2)} h`
const classOf = (one) => {
  if (one.kind === 'log')
    return one.note === 'error' || one.note === 'fatal' ? 'failed' : one.note === 'warn' ? 'running' : 'dim'
  if (one.outcome !== 'ok') return one.outcome
  return one.kind === 'request' || one.kind === 'outgoing' ? (parseInt(one.note, 10) >= 400 ? 'running' : 'ok') : 'dim'
}
const noteOf = (one) => (one.outcome === 'running' && one.note === '' ? 'running' : one.note)

function row(one) {
  return h(
    'li',
    {},
    h(
      'a',
      { href: `#/${one.kind}/${one.id}` },
      timeOf(one.at),
      h('span', { class: 'title', title: one.title }, one.title),
      h('span', { class: classOf(one) }, noteOf(one)),
      h('span', { class: 'ms' }, one.kind === 'log' || one.kind === 'cache' ? '' : span(one.ms)),
    ),
  )
}

/** The parts of the address of the shown view; the first visit has none. */
const addressNow = () => (location.hash || '#/request').split('?')
const placeNow = () => addressNow()[0].split('/')
/** The addresses of lists with the filters that were last chosen, by kind. */
const addresses = new Map()
const counted = (number, what) => `${number} ${what}${number === 1 ? '' : 's'}`

function drawNav() {
  const here = placeNow()
  const link = (place, title, count) =>
    h(
      'li',
      {},
      h(
        'a',
        {
          href: `#/${place}`,
          'aria-current':
            here[1] === place.split('/')[0] && (here[1] !== 'panel' || here[2] === place.split('/')[1])
              ? 'page'
              : undefined,
        },
        title,
        count ? h('span', { class: 'count' }, String(count)) : undefined,
      ),
    )
  const shown = kinds.filter((kind) => kind === 'request' || kind === 'log' || counts[kind] > 0 || here[1] === kind)
  const panels = overview ? overview.panels : []
  const focused =
    document.activeElement && nav.contains(document.activeElement)
      ? document.activeElement.getAttribute('href')
      : undefined
  nav.replaceChildren(
    ...shown.map((kind) => link(kind, titles[kind], counts[kind])),
    link('exceptions', 'Exceptions'),
    h('li', { class: 'group' }, 'Application'),
    link('routes', 'Routes'),
    link('map', 'Map'),
    link('processes', 'Processes'),
    link('plugins', 'Plugins'),
    ...(panels.length ? [h('li', { class: 'group' }, 'Panels')] : []),
    ...panels.map(({ key, title }) => link(`panel/${encodeURIComponent(key)}`, title)),
  )
  if (focused) nav.querySelector(`[href="${CSS.escape(focused)}"]`)?.focus()
}

/** Bounded like the lists of the server. */
function merge(changed) {
  for (const one of changed) {
    if (!lists.has(one.kind)) {
      counts[one.kind] = Math.min(
        (counts[one.kind] || 0) + (one.outcome === 'running' || one.ms === 0 ? 1 : 0),
        overview.keep,
      )
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
/** The timer of a view that changes by itself. */
let refreshing
async function show() {
  const [, place, rest] = placeNow()
  const turn = ++asked
  clearInterval(refreshing)
  try {
    if (overview === undefined) await load()
    const view =
      rest !== undefined && kinds.includes(place)
        ? await detailView(Number(rest))
        : kinds.includes(place)
          ? await listView(place)
          : place === 'routes'
            ? routesView()
            : place === 'exceptions'
              ? await exceptionsView()
              : place === 'plugins'
                ? pluginsView()
                : place === 'map'
                  ? await mapView()
                  : place === 'processes'
                    ? await processesView()
                    : place === 'panel'
                      ? await panelView(decodeURIComponent(rest))
                      : await listView('request')
    if (turn !== asked) return
    current = view
    main.replaceChildren(...view.nodes)
    view.begin?.()
    document.title = `${view.title || 'Inspector'} · Inspector`
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
  document.getElementById('where').textContent = `${overview.url || ''} · process ${overview.pid}`
}

let events
function connect() {
  events = new EventSource(`${base}events`)
  let isFirst = true
  events.addEventListener('hello', () => {
    live.className = 'on'
    live.textContent = 'live'
    // What has happened in between, perhaps in another version of the application.
    if (!isFirst) {
      overview = undefined
      lists.clear()
      current.isOld = true
      if (!current.stays) show()
    }
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

document.getElementById('clear').addEventListener(
  'click',
  attempt(async () => {
    await ask('clear', {})
    lists.clear()
    overview = undefined
    if (location.hash.split('/').length > 2) location.hash = '#/request'
    else await show()
  }),
)

/** What rows can be filtered by, with their name in the address; a select offers the values that occur. */
const filters = {
  status: { label: 'Status', of: ({ note }) => (/^[1-5]\d\d/.test(note) ? `${note[0]}xx` : undefined) },
  method: { label: 'Method', of: ({ method }) => method },
  route: { label: 'Route', of: ({ route }) => route },
  level: { label: 'Level', of: ({ kind, note }) => (kind === 'log' ? note : undefined) },
  outcome: { label: 'Outcome', of: ({ kind, outcome }) => (kind === 'log' ? undefined : outcome) },
  plugin: { label: 'Plugin', of: ({ plugin }) => plugin },
  slow: { label: 'Slower (ms)', type: 'number', keeps: ({ ms }, value) => (ms ?? 0) > Number(value) },
  text: {
    label: 'Text',
    type: 'search',
    keeps: (one, value) =>
      [one.title, one.note, one.method, one.path].join(' ').toLowerCase().includes(value.toLowerCase()),
  },
}

/** The filters in `names` for the rows that `all` returns. They are in the address, so that a reload and a link keep them. */
function filterBar(names, all, draw) {
  const given = new URLSearchParams(addressNow()[1])
  addresses.set(placeNow()[1], location.hash || undefined)
  const onchange = () => {
    const chosen = new URLSearchParams(inputs.map(([name, input]) => [name, input.value]).filter(([, value]) => value))
    history.replaceState(null, '', addressNow()[0] + (String(chosen) && `?${chosen}`))
    addresses.set(placeNow()[1], location.hash)
    draw(shown())
  }
  const inputs = names.map((name) => {
    const { label, type } = filters[name]
    const value = given.get(name) || undefined
    const attributes = { 'aria-label': label, oninput: onchange }
    if (type) return [name, h('input', { ...attributes, type, value, placeholder: label })]
    const choice = value && h('option', { selected: true }, value)
    return [name, h('select', attributes, h('option', { value: '' }, label), choice)]
  })
  const shown = () => {
    const rows = all()
    for (const [name, input] of inputs) {
      const { of } = filters[name]
      if (of === undefined) continue
      const known = new Set(Array.from(input.options, (option) => option.value || ''))
      for (const value of new Set(rows.map(of))) if (value && !known.has(value)) input.append(h('option', {}, value))
      // One value leaves nothing to choose.
      input.hidden = input.options.length < 3 && !input.value
    }
    const chosen = inputs.filter(([, input]) => input.value)
    return rows.filter((one) =>
      chosen.every(([name, { value }]) => {
        const { of, keeps } = filters[name]
        return of ? of(one) === value : keeps(one, value)
      }),
    )
  }
  return {
    draw: () => draw(shown()),
    node: h(
      'div',
      { class: 'filters', role: 'search' },
      inputs.map(([, input]) => input),
    ),
  }
}

async function listView(kind) {
  if (!lists.has(kind)) lists.set(kind, await ask(`list?kind=${kind}`))
  counts[kind] = lists.get(kind).length
  const rows = h('ul', { class: 'rows' })
  const empty = h('p', { class: 'empty' })
  const names = ['status', 'method', 'route', 'level', 'outcome', ...(kind === 'log' ? [] : ['slow']), 'text']
  const bar = filterBar(
    names,
    () => lists.get(kind),
    (shown) => {
      const focused = rows.contains(document.activeElement) ? document.activeElement.getAttribute('href') : undefined
      rows.replaceChildren(...shown.map(row))
      if (focused) rows.querySelector(`[href="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true })
      empty.hidden = shown.length > 0
      empty.textContent = lists.get(kind).length ? 'No entry has all of these.' : 'Nothing yet.'
    },
  )
  bar.draw()
  return {
    title: titles[kind],
    nodes: [h('div', { class: 'bar' }, h('h2', {}, titles[kind]), bar.node), card(rows, empty)],
    changed: (changed) => {
      if (changed.some((one) => one.kind === kind)) bar.draw()
    },
  }
}

/** A button that shows what has come since: a view that is read does not change by itself. */
const freshButton = () => h('button', { type: 'button', hidden: true, onclick: () => show() }, 'Show what is new')

async function exceptionsView() {
  const groups = await ask('exceptions')
  const fresh = freshButton()
  const cards = groups.map(({ type, message, place, count, first, last, seen }, i) =>
    card(
      h('p', { class: 'pad' }, h('strong', { class: 'failed' }, type), place === message ? '' : ` at ${place}`),
      h('p', { class: 'pad' }, message),
      h(
        'details',
        { open: i === 0 },
        h('summary', {}, `${counted(count, 'time')}, first at `, timeOf(first), ', last at ', timeOf(last)),
        h('ul', { class: 'rows' }, seen.map(row)),
      ),
    ),
  )
  return {
    title: 'Exceptions',
    stays: true,
    nodes: [
      h('div', { class: 'bar' }, h('h2', {}, 'Exceptions'), fresh),
      ...(cards.length ? cards : [card(h('p', { class: 'empty' }, 'Nothing has failed.'))]),
    ],
    changed: (changed) => {
      if (changed.some(({ outcome }) => outcome === 'failed')) fresh.hidden = false
    },
  }
}

const section = (title, ...content) => [h('h3', {}, title), ...content]
const card = (...content) => h('div', { class: 'card' }, ...content)
const json = (value) => JSON.stringify(value, null, 2)

function listOf(pairs) {
  return h(
    'dl',
    { class: 'pad' },
    pairs
      .filter(([, value]) => value !== undefined && value !== null && value !== '')
      .map(([name, value]) => [
        h('dt', {}, name),
        h('dd', {}, typeof value === 'object' ? h('code', {}, json(value)) : String(value)),
      ]),
  )
}

function bodyOf(body) {
  if (body === undefined) return undefined
  const size = counted(body.size, 'byte')
  if (body.text === undefined) return h('p', { class: 'pad dim' }, size + (body.why ? `, ${body.why}` : ''))
  return [
    h('pre', { tabindex: '0' }, body.text),
    body.why === 'cut' ? h('p', { class: 'pad dim' }, `The beginning of ${size}.`) : undefined,
  ]
}

const headersOf = (headers) => h('details', {}, h('summary', {}, counted(headers.length, 'header')), listOf(headers))

const responseOf = (http) =>
  http.response === undefined || http.response === null
    ? card(h('p', { class: 'pad dim' }, 'No response has left.'))
    : card(listOf([['Status', http.response.status]]), headersOf(http.response.headers), bodyOf(http.response.body))

/** Everything of one trace on one time line. */
function waterfall(one) {
  const all = one.related.filter(({ kind }) => kind !== 'log' && kind !== 'cache')
  if (all.length === 0) return []
  const from = Math.min(...all.map(({ at }) => at))
  const endOf = ({ at, ms }) => at + (ms === undefined || ms === null ? Date.now() - at : ms)
  const whole = Math.max(1, ...all.map((other) => endOf(other) - from))
  const bar = (start, ms) => {
    const line = h('i', {})
    line.style.left = `${Math.min(99.5, (start / whole) * 100)}%`
    line.style.width = `${Math.min(100 - Math.min(99.5, (start / whole) * 100), (ms / whole) * 100)}%`
    return h('span', { class: 'line' }, line)
  }
  const depths = new Map()
  const rows = all
    .flatMap((other) => {
      const depth = Math.min(6, other.parent && depths.has(other.parent) ? depths.get(other.parent) + 1 : 0)
      depths.set(other.id, depth)
      const indented = (name, level) => {
        const node = h('span', { class: 'name', title: name }, name)
        node.style.paddingLeft = `${level}em`
        return node
      }
      const marks = other.marks.map((mark, i) => {
        const next = other.marks[i + 1]
        const ms = mark.ms !== undefined ? mark.ms : (next ? next.at : mark.at) - mark.at
        return h(
          'li',
          { class: `mark${mark.failed ? ' failed' : ''}` },
          h(
            'span',
            {},
            indented(mark.name, depth + 1),
            bar(other.at - from + mark.at, ms),
            h('span', { class: 'ms' }, mark.name.startsWith('cache: ') ? '' : span(ms)),
          ),
        )
      })
      const name =
        (other.kind === 'request' ? '' : `${titles[other.kind].replace(/(ie)?s$/, (_, ie) => (ie ? 'y' : ''))}: `) +
        other.title +
        (other.note && other.kind !== 'request' ? ` (${other.note})` : '')
      return [
        h(
          'li',
          { class: other.outcome },
          h(
            'a',
            { href: `#/${other.kind}/${other.id}`, 'aria-current': other.id === one.id ? 'true' : undefined },
            indented(name, depth),
            bar(other.at - from, endOf(other) - other.at),
            h('span', { class: 'ms' }, span(other.ms)),
          ),
        ),
        ...marks,
        other.marksLeftOut
          ? h('li', { class: 'mark' }, h('span', {}, indented(`and ${other.marksLeftOut} more`, depth + 1)))
          : [],
      ]
    })
    .flat()
  return section('Waterfall', card(h('ul', { class: 'fall' }, rows)))
}

function failureOf({ error }) {
  if (!error) return []
  const chain = []
  for (let cause = error; cause && chain.length < 6; cause = cause.cause) chain.push(cause)
  const nodes = chain.map((one, at) => {
    const { type, message, places = [], source = [], stack } = typeof one === 'object' ? one : { message: String(one) }
    const label = at ? 'Caused by ' : ''
    return [
      h('p', { class: 'pad failed' }, label + (type ? `${type}: ` : '') + message),
      places.map(({ text, name, href }) => h('p', { class: 'pad' }, h('a', { href }, name ? `${name} ${text}` : text))),
      source.length
        ? h(
            'pre',
            { tabindex: '0' },
            source.map(({ kind, text }) => h('span', { class: kind === 'source' ? 'dim' : '' }, `${text}\n`)),
          )
        : undefined,
      stack ? h('details', { class: 'pad' }, h('summary', {}, 'Stack'), h('pre', { tabindex: '0' }, stack)) : undefined,
    ]
  })
  return section('Failure', card(nodes))
}

function logOf(one) {
  const lines = one.related.filter(({ kind }) => kind === 'log')
  if (lines.length === 0) return []
  return section('Log', card(h('ul', { class: 'rows' }, lines.map(row))))
}

function stepsOf(steps) {
  return steps.map(({ name, plugin, slot }, i) => [i ? ' › ' : '', h('span', { title: `${slot}, by ${plugin}` }, name)])
}

/** A word of a command for a shell. A client may have sent control characters, which a terminal would obey. */
const quoted = (text) =>
  /[^\P{Cc}\n]/u.test(text)
    ? `$'${text.replace(/[\\']/g, '\\$&').replace(/\p{Cc}/gu, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`)}'`
    : `'${text.replaceAll("'", "'\\''")}'`

function curlOf({ method, target, headers, body }) {
  const lines = headers.split('\n').filter((line) => line && !/^(host|(accept|content)-encoding):/.test(line))
  // curl would give a body a type of its own.
  if (body && !/^content-type:/m.test(headers)) lines.push('content-type:')
  return [
    'curl -g --path-as-is',
    method === 'HEAD' ? '--head' : `-X ${quoted(method)}`,
    quoted(new URL(overview.url || location.origin).origin + target),
    ...lines.map((line) => `-H ${quoted(line.replace(/^([^:]*): $/, '$1;'))}`),
    ...(body ? [`--data-raw ${quoted(body)}`] : []),
  ].join(' \\\n  ')
}

const button = (text, work, more = {}) => {
  const made = h(
    'button',
    {
      type: 'button',
      ...more,
      onclick: attempt(async () => {
        made.disabled = true
        try {
          await work()
        } finally {
          made.disabled = false
        }
      }),
    },
    text,
  )
  return made
}

const replayed = async (id, edit) => {
  location.hash = `#/request/${(await ask('replay', { id, edit })).id}`
}

/** A form with a request as it is shown, which is sent as it is then. */
function editorOf({ id, http: { edit } }) {
  const field = (label, node) => h('label', {}, h('span', { class: 'dim' }, label), node)
  const area = (text, rows) => h('textarea', { rows, spellcheck: 'false' }, text)
  const method = h('input', { value: edit.method, size: 8 })
  const target = h('input', { value: edit.target })
  const headers = area(edit.headers, Math.min(12, edit.headers.split('\n').length + 1))
  const body = edit.body === undefined || edit.body === null ? undefined : area(edit.body, 8)
  const before = body?.value
  const send = () =>
    replayed(id, {
      method: method.value,
      target: target.value,
      headers: headers.value,
      ...(body && body.value !== before && { body: body.value }),
    })
  return card(
    h(
      'details',
      {},
      h('summary', {}, 'Edit and send'),
      h(
        'form',
        {
          class: 'pad edit',
          onsubmit: (event) => {
            event.preventDefault()
            attempt(send)()
          },
        },
        field('Method', method),
        field('Path', target),
        field('Headers', headers),
        body ? field('Body', body) : undefined,
        h('p', { class: 'dim' }, 'What you leave as it is has its real value again, also where it is redacted.'),
        h('button', {}, 'Send'),
      ),
    ),
  )
}

async function httpOf(one) {
  const { http } = one
  const cannot = http.replay !== undefined
  const before =
    one.data.repeats === undefined ? undefined : await ask(`activity?id=${one.data.repeats}`).catch(() => undefined)
  const responses =
    before === undefined
      ? section('Response', responseOf(http))
      : section(
          'Responses',
          h(
            'div',
            { class: 'two' },
            h(
              'div',
              {},
              h('p', {}, h('a', { href: `#/request/${before.id}` }, `Before, at ${clock(before.at)}`)),
              responseOf(before.http),
            ),
            h('div', {}, h('p', {}, `Now, at ${clock(one.at)}`), responseOf(http)),
          ),
        )
  return {
    button: [
      button('Replay', () => replayed(one.id), { disabled: cannot }),
      button('Copy as curl', async () => {
        const command = curlOf(http.edit)
        await navigator.clipboard.writeText(command)
        const { why } = http.request.body ?? {}
        const lack = why && why !== 'empty' ? ` without the whole body (${why})` : ''
        notice(`Copied${lack}.${command.includes('[redacted]') ? ' Fill in what is [redacted].' : ''}`)
      }),
      cannot ? h('span', { class: 'dim' }, `Cannot be replayed because ${http.replay}.`) : undefined,
    ],
    nodes: [
      ...responses,
      ...section(
        'Request',
        card(headersOf(http.request.headers), bodyOf(http.request.body)),
        cannot ? undefined : editorOf(one),
      ).filter(Boolean),
      ...(http.explained.length ? section('Chain', card(h('p', { class: 'pad' }, stepsOf(http.explained)))) : []),
      ...(one.replays.length ? section('Replays of it', card(h('ul', { class: 'rows' }, one.replays.map(row)))) : []),
    ],
  }
}

const people = (list) => (list || []).map(({ name, address }) => (name ? `${name} <${address}>` : address)).join(', ')
function emailOf({ id, data }) {
  const one = (person) => (person ? people([person]) : undefined)
  return [
    ...section(
      'Email',
      card(
        listOf([
          ['From', one(data.from)],
          ['To', people(data.to)],
          ['Cc', people(data.cc)],
          ['Bcc', people(data.bcc)],
          ['Reply to', people(data.replyTo)],
          ['Subject', data.subject],
          ['Message-ID', data.messageId],
          ['Provider', data.provider],
          ['Attachments', (data.attachments || []).map(({ filename, path }) => filename || path).join(', ')],
          ...Object.entries(data.headers || {}),
        ]),
      ),
    ),
    ...(data.html === undefined
      ? []
      : section(
          'HTML',
          card(h('iframe', { sandbox: true, src: `${base}api/email?id=${id}`, title: 'The email as it looks' })),
        )),
    ...(data.text === undefined ? [] : section('Text', card(h('pre', { tabindex: '0' }, data.text)))),
  ]
}

async function detailView(id) {
  const one = await ask(`activity?id=${id}`)
  const http = one.http ? await httpOf(one) : { button: [], nodes: [] }
  const data = Object.entries(one.data).filter(
    ([name]) => !(one.http && ['target', 'method', 'respondedAfter', 'repeats'].includes(name)),
  )
  // What the server says once more of what is shown already is not new.
  const isNew = ({ id, trace, outcome }) =>
    trace === one.trace && !one.related.some((other) => other.id === id && other.outcome === outcome)
  const fresh = freshButton()
  const again =
    one.again &&
    button(one.again.action, async () => {
      if (one.again.confirm !== undefined && !confirm(one.again.confirm)) return
      notice((await ask('action', { panel: one.again.key, action: one.again.action, id: one.again.id })).message)
    })
  return {
    title: one.title,
    stays: true,
    nodes: [
      h('p', {}, h('a', { href: addresses.get(one.kind) || `#/${one.kind}` }, titles[one.kind])),
      h(
        'div',
        { class: 'bar' },
        h('h2', {}, one.title),
        h(
          'span',
          { class: classOf(one) },
          noteOf(one) + (one.outcome === 'failed' && one.kind !== 'request' ? ' failed' : ''),
        ),
        h('span', { class: 'dim' }, span(one.ms)),
        ...http.button,
        again,
        fresh,
      ),
      ...failureOf(one),
      ...waterfall(one),
      ...(one.view === 'email' ? emailOf(one) : data.length ? section('Details', card(listOf(data))) : []),
      ...http.nodes,
      ...logOf(one),
    ],
    changed: (changed) => {
      if (changed.some(isNew)) fresh.hidden = false
    },
  }
}

function routesView() {
  const rows = h('tbody', {})
  const bar = filterBar(
    ['method', 'plugin', 'text'],
    () => overview.routes,
    (shown) =>
      rows.replaceChildren(
        ...shown.map(({ method, path, plugin, steps }) =>
          tableRow([
            h('span', { class: 'whole' }, method),
            [
              h('code', { class: 'whole' }, path),
              plugin === 'application' ? undefined : [' ', h('span', { class: 'badge' }, plugin)],
            ],
            h('div', { class: 'chain' }, stepsOf(steps)),
          ]),
        ),
      ),
  )
  bar.draw()
  return {
    title: 'Routes',
    changed() {},
    nodes: [h('div', { class: 'bar' }, h('h2', {}, 'Routes'), bar.node), table(['Method', 'Path', 'Chain'], rows)],
  }
}

const tableRow = (cells) =>
  h(
    'tr',
    {},
    cells.map((cell) => h('td', {}, cell)),
  )

const table = (columns, body) =>
  h(
    'div',
    { class: 'card wide', tabindex: '0', role: 'region', 'aria-label': 'Table' },
    h(
      'table',
      {},
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          columns.map((column) => h('th', { scope: 'col' }, column)),
        ),
      ),
      body,
    ),
  )

function pluginsView() {
  const times = (ms) =>
    Object.entries(ms)
      .filter(([, value]) => value >= 0.05)
      .map(([phase, value]) => `${phase} ${span(value)}`)
      .join(', ')
  const node = (plugin) =>
    h(
      'li',
      {},
      h('strong', {}, plugin.name),
      plugin.version ? ` ${plugin.version}` : '',
      ' ',
      plugin.prefix ? [h('span', { class: 'badge' }, plugin.prefix), ' '] : '',
      h(
        'span',
        { class: 'dim' },
        [
          times(plugin.ms),
          plugin.services.length ? `provides ${plugin.services.join(', ')}` : '',
          plugin.routes.length ? counted(plugin.routes.length, 'route') : '',
        ]
          .filter(Boolean)
          .join(' · '),
      ),
      plugin.children.length ? h('ul', {}, plugin.children.map(node)) : undefined,
    )
  return {
    title: 'Plugins',
    changed() {},
    nodes: [h('h2', {}, 'Plugins'), card(h('ul', { class: 'tree' }, node(overview.plugins)))],
  }
}

const svg = (name, attributes, ...content) => {
  const node = document.createElementNS('http://www.w3.org/2000/svg', name)
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value)
  node.append(...content)
  return node
}

const briefly = ({ count, failed, ms }) =>
  count ? `${count}×${failed ? `, ${failed} failed` : ''}, ${span(ms / count)}` : ''
const countsOf = (one) => briefly(one) && `${briefly(one)} on average`

/** Columns from left to right: what begins, what that causes, plugins, machines. */
function columnsOf({ nodes, edges }) {
  const kindOf = new Map(nodes.map(({ name, kind }) => [name, kind]))
  const works = edges.filter(({ from, to }) => kindOf.get(from) === 'work' && kindOf.get(to) === 'work')
  // Not further than is shown: there may be more ways through the work than can be counted.
  const depthOf = (name, seen = []) => {
    if (seen.length > 2) return 0
    const causes = works.filter(({ from, to }) => to === name && !seen.includes(from))
    return Math.min(3, Math.max(0, ...causes.map(({ from }) => depthOf(from, [...seen, name]) + 1)))
  }
  const columns = []
  const hasEdges = ({ name }) => edges.some(({ from, to }) => from === name || to === name)
  for (const node of nodes.filter((one) => one.kind !== 'plugin' || one.count || hasEdges(one))) {
    const at = node.kind === 'work' ? depthOf(node.name) : node.kind === 'plugin' ? 4 : 5
    columns[at] = [...(columns[at] || []), node]
  }
  return columns.filter(Boolean)
}

/** The drawing. The lists below it say the same. */
function drawing(map) {
  const [wide, high, gap] = [168, 34, 56]
  const columns = columnsOf(map)
  const places = new Map()
  columns.forEach((column, x) => {
    column.forEach(({ name }, y) => {
      places.set(name, [x * (wide + gap), y * (high + 10)])
    })
  })
  const lines = map.edges.map((edge) => {
    const [[x, y], [toX, toY]] = [places.get(edge.from), places.get(edge.to)]
    // From the near side of a box to that of the other; within a column, around on the right.
    const [fromX, untilX] = [toX < x ? x : x + wide, toX > x ? toX : toX + wide]
    const bend = [fromX + (toX < x ? -gap : gap) / 2, untilX + (toX > x ? -gap : gap) / 2]
    const middle = high / 2
    return svg(
      'path',
      {
        d: `M${fromX} ${y + middle}C${bend[0]} ${y + middle} ${bend[1]} ${toY + middle} ${untilX} ${toY + middle}`,
        class: edge.failed ? 'failed' : edge.count ? 'busy' : '',
      },
      svg('title', {}, `${edge.from} → ${edge.to} ${countsOf(edge)}`),
    )
  })
  const boxes = columns.flat().map((node) => {
    const [x, y] = places.get(node.name)
    const isWrong = node.failed || (node.health && node.health !== 'ok')
    const short = node.name.length > 23 ? `${node.name.slice(0, 22)}…` : node.name
    return svg(
      'g',
      { class: `${node.kind}${isWrong ? ' failed' : ''}` },
      svg('title', {}, `${node.name} ${countsOf(node)}`),
      svg('rect', { x, y, width: wide, height: high, rx: 6 }),
      svg('text', { x: x + 8, y: y + (node.count ? 15 : 21) }, short),
      svg('text', { x: x + 8, y: y + 28, class: 'small' }, briefly(node)),
    )
  })
  const width = columns.length * (wide + gap)
  const height = Math.max(1, ...columns.map(({ length }) => length)) * (high + 10)
  // Not smaller than it can be read: on a phone it scrolls.
  const attributes = { class: 'map', viewBox: `-2 -2 ${width} ${height}`, width, height, role: 'img' }
  return svg(
    'svg',
    { ...attributes, 'aria-label': 'What causes and reaches what; the lists below say the same' },
    ...lines,
    ...boxes,
  )
}

async function mapView() {
  const map = await ask('map')
  const line = (name, more, below = []) =>
    h(
      'li',
      {},
      h('strong', {}, name),
      ' ',
      h('span', { class: 'dim' }, more.filter(Boolean).join(' · ')),
      below.length ? h('ul', {}, below) : undefined,
    )
  const ends = (end, other, name) =>
    map.edges.filter((edge) => edge[end] === name).map((edge) => line(edge[other], [countsOf(edge)]))
  const trees = new Map()
  const walk = (tree) => {
    trees.set(tree.name, tree)
    tree.children.forEach(walk)
  }
  walk(overview.plugins)
  const of = (kind) => map.nodes.filter((node) => node.kind === kind)
  const pluginLine = ({ name, needs = [], health, ...counts }) => {
    const { services = [], prefix } = trees.get(name) || {}
    const more = [
      prefix,
      services.length ? `provides ${services.join(', ')}` : '',
      needs.length ? `uses ${needs.join(', ')}` : '',
      health ? `health ${health}` : '',
      countsOf(counts),
    ]
    return line(name, more, ends('from', 'to', name))
  }
  const sections = [
    ['Work', 'work', (node) => line(node.name, [countsOf(node)], ends('from', 'to', node.name))],
    ['Plugins', 'plugin', pluginLine],
    ['Machines', 'machine', (node) => line(node.name, [countsOf(node)], ends('to', 'from', node.name))],
  ]
  return {
    title: 'Map',
    changed() {},
    nodes: [
      h(
        'div',
        { class: 'bar' },
        h('h2', {}, 'Map'),
        h('button', { type: 'button', onclick: () => show() }, 'Refresh'),
        h('span', { class: 'dim' }, 'Counts are those of the last minute.'),
      ),
      h('div', { class: 'card wide', tabindex: '0', role: 'region', 'aria-label': 'Drawing' }, drawing(map)),
      ...sections.flatMap(([title, kind, what]) =>
        of(kind).length ? section(title, card(h('ul', { class: 'tree' }, of(kind).map(what)))) : [],
      ),
    ],
  }
}

async function processesView() {
  const rowOf = ({ pid, runs, state, why, since, memory, restarts, url }) =>
    tableRow([
      String(pid),
      runs,
      h(
        'span',
        {
          class: state === 'ended' ? (why === 'exit code 0' ? 'dim' : 'failed') : state === 'ready' ? 'ok' : 'running',
        },
        why ? `${state}, ${why}` : state,
      ),
      timeOf(since),
      memory ? quantity('_bytes', memory) : '',
      restarts === undefined ? '' : String(restarts),
      url ?? '',
    ])
  const read = async () => (await ask('processes')).map(rowOf)
  const body = h('tbody', {}, await read())
  return {
    title: 'Processes',
    begin() {
      refreshing = setInterval(async () => {
        const rows = await read().catch(() => undefined)
        if (rows && body.isConnected) body.replaceChildren(...rows)
      }, 2000)
    },
    changed() {},
    nodes: [
      h('h2', {}, 'Processes'),
      table(['Process', 'Runs', 'State', 'Since', 'Memory', 'Restarts', 'Address'], body),
    ],
  }
}

const inUnits = (value, units, by) => {
  let at = 0
  for (; value >= by && at < units.length - 1; at++) value /= by
  return `${Number(value.toPrecision(Math.max(3, Math.trunc(value).toString().length)))} ${units[at]}`.trim()
}

/** A number in the unit that the end of its name has. */
function quantity(name, value) {
  if (/_bytes(_|$)/.test(name)) return inUnits(value, ['bytes', 'kB', 'MB', 'GB'], 1000)
  if (!/_seconds(_|$)/.test(name)) return inUnits(value, [''], 1)
  // A moment, such as the start of the process, is in seconds since 1970.
  return value > 1e9 ? new Date(value * 1000).toLocaleString() : span(value * 1000)
}

const sumOf = (id) => id.replace(/_count(?=\{|$)/, '_sum')

/** The cells of a figure with its last minutes. A histogram is one row: how often, and the mean. A total only grows, so its chart is what comes per second. */
function figureCells({ id, cells, history }, byId) {
  const [name] = id.split('{')
  const value = cells.at(-1)
  const isPair = /_sum$/.test(name) && byId.has(id.replace(/_sum(?=\{|$)/, '_count'))
  if (typeof value !== 'number' || isPair) return isPair ? undefined : [...cells, '']
  const sum = sumOf(id) === id ? undefined : byId.get(sumOf(id))
  const isCount = /_(total|count)$/.test(name)
  const unit = /_count$/.test(name) ? '' : name
  const points = isCount
    ? history.slice(1).map(([at, now], i) => [at, Math.max(0, now - history[i][1]) / ((at - history[i][0]) / 1000)])
    : history
  const rate = isCount && points.at(-1)?.[1]
  const text = [
    quantity(unit, value),
    sum && value ? `mean ${quantity(name, sum.cells.at(-1) / value)}` : '',
    rate ? `${quantity(unit, rate)} per second` : '',
  ]
  const said = (one) => quantity(unit, one) + (isCount ? ' per second' : '')
  const title = sum ? id.replace(/_count(?=\{|$)/, '') : id
  return [title, ...cells.slice(1, -1), text.filter(Boolean).join(' · '), chart(points, said)]
}

function chart(points, said) {
  if (points.length < 2) return ''
  const values = points.map(([, value]) => value)
  const [low, high] = [Math.min(...values), Math.max(...values)]
  const [from, to] = [points[0][0], points.at(-1)[0]]
  const place = ([at, value]) =>
    `${(((at - from) / (to - from || 1)) * 118 + 1).toFixed(1)},${(23 - ((value - low) / (high - low || 1)) * 22).toFixed(1)}`
  const label = low === high ? `always ${said(low)}` : `between ${said(low)} and ${said(high)}`
  const line = svg('polyline', { points: points.map(place).join(' ') })
  const drawn = svg('svg', { class: 'chart', viewBox: '0 0 120 24', role: 'img', 'aria-label': label }, line)
  return h('span', { title: label }, drawn)
}

async function panelView(key) {
  const read = () => ask(`panel?key=${encodeURIComponent(key)}`)
  const panel = await read()
  const cell = (value) =>
    value === null
      ? ''
      : typeof value === 'number'
        ? quantity('', value)
        : typeof value !== 'object' || value instanceof Node
          ? value
          : value.time !== undefined
            ? new Date(value.time).toLocaleString()
            : h('code', {}, json(value.json))
  const act =
    (id) =>
    ({ name, confirm: question }) =>
      button(
        name,
        async () => {
          if (question !== undefined && !confirm(question)) return
          const { message } = await ask('action', { panel: key, action: name, id })
          notice(message)
          await show()
        },
        { 'aria-label': `${name} ${id}` },
      )
  const rowsOf = ({ rows }) => {
    const byId = new Map(rows.map((one) => [one.id, one]))
    return rows.flatMap((one) => {
      const cells = one.history ? figureCells(one, byId) : one.cells
      const actions = panel.actions.length ? [h('div', { class: 'act' }, panel.actions.map(act(one.id)))] : []
      return cells ? tableRow([...cells.map(cell), ...actions]) : []
    })
  }
  const body = h('tbody', {}, rowsOf(panel))
  const isChart = panel.rows.some(({ history }) => history)
  const refresh = async () => {
    const next = await read().catch(() => undefined)
    if (next && body.isConnected) body.replaceChildren(...rowsOf(next))
  }
  return {
    title: panel.title,
    begin() {
      if (isChart) refreshing = setInterval(refresh, panel.interval)
    },
    changed() {},
    nodes: [
      h(
        'div',
        { class: 'bar' },
        h('h2', {}, panel.title),
        h('span', { class: 'badge' }, panel.plugin),
        h('button', { type: 'button', onclick: () => show() }, 'Refresh'),
      ),
      panel.rows.length
        ? table(
            [...panel.columns, ...(isChart ? ['Last minutes'] : []), ...(panel.actions.length ? ['Actions'] : [])],
            body,
          )
        : card(h('p', { class: 'empty' }, 'Nothing here.')),
      panel.isMore ? h('p', { class: 'dim' }, 'There are more rows, which are not shown.') : undefined,
    ].filter(Boolean),
  }
}

addEventListener('hashchange', () => {
  show().then(() => main.focus({ preventScroll: true }))
})
addEventListener('pagehide', () => events?.close())
show().then(connect)
