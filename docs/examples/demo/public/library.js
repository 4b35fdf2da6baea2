/** @typedef {{ id: string, title: string, author: string }} Book */

/** @param {string} id */
const find = (id) => /** @type {HTMLElement} */ (document.getElementById(id))

/** @param {string} path @param {RequestInit} [init] */
async function ask(path, init) {
  const res = await fetch(path, init)
  if (res.status === 204) return undefined
  const body = await res.json()
  if (!res.ok) throw new Error(body.message)
  return body
}

/** @param {string} name @param {string} text */
function element(name, text) {
  const made = document.createElement(name)
  made.textContent = text
  return made
}

/** @param {Book} book */
function card({ id, title, author }) {
  const item = document.createElement('li')
  const cover = document.createElement('div')
  cover.className = `cover tone-${Number(id) % 6}`
  cover.append(element('strong', title), element('span', author))
  const button = element('button', '')
  button.dataset.book = id
  button.addEventListener('click', () => put(id, button.getAttribute('aria-pressed') !== 'true'))
  item.append(cover, button)
  return item
}

/** The books that are lent, by the websocket. @type {Set<string>} */
const lent = new Set()

function showLent() {
  for (const button of document.querySelectorAll('[data-book]')) {
    const { book = '' } = /** @type {HTMLElement} */ (button).dataset
    button.closest('li')?.classList.toggle('is-lent', lent.has(book))
  }
}

/** @param {Book} book */
function row({ id, title, author }) {
  const item = document.createElement('li')
  const name = document.createElement('div')
  name.append(element('strong', title), element('span', author))
  const button = element('button', 'Remove')
  button.setAttribute('aria-label', `Remove ${title}`)
  button.addEventListener('click', async () => {
    await put(id, false)
    // The button is gone, and a keyboard must be somewhere.
    find('mine').focus()
  })
  item.append(name, button)
  return item
}

/** @param {string} id @param {boolean} isWanted */
async function put(id, isWanted) {
  await trying(async () => {
    await ask(`../list/${id}`, { method: isWanted ? 'PUT' : 'DELETE' })
    await showList()
  })
}

async function showBooks() {
  const books = /** @type {Book[]} */ (await ask('../books'))
  find('books').replaceChildren(...books.map(card))
  await showList()
}

async function showList() {
  const list = /** @type {Book[]} */ (await ask('../list'))
  find('list').replaceChildren(...list.map(row))
  for (const button of document.querySelectorAll('[data-book]')) {
    const isOn = list.some(({ id }) => id === /** @type {HTMLElement} */ (button).dataset.book)
    button.setAttribute('aria-pressed', String(isOn))
    button.textContent = isOn ? 'On my list' : 'Add to my list'
  }
  showLent()
}

/** Shows who else is here and what is lent, and connects again a while after the connection has ended. */
function connect() {
  const socket = new WebSocket(new URL('../live', location.href.replace(/^http/, 'ws')))
  socket.addEventListener('message', ({ data: text }) => {
    const { type, data } = JSON.parse(text)
    const readers = find('readers')
    if (type === 'readers') {
      readers.textContent = data === 1 ? 'You are the only reader here.' : `${data} readers are here.`
      readers.hidden = false
    } else {
      if (data.isLent) lent.add(data.book)
      else lent.delete(data.book)
      showLent()
    }
  })
  socket.addEventListener('close', () => {
    find('readers').hidden = true
    lent.clear()
    setTimeout(connect, 2000)
  })
  addEventListener('pagehide', () => socket.close(), { once: true })
}

/** @param {() => Promise<unknown>} act */
async function trying(act) {
  const failure = find('failure')
  try {
    await act()
    failure.hidden = true
  } catch (error) {
    failure.textContent = error instanceof Error ? error.message : String(error)
    failure.hidden = false
  }
}

function listen() {
  const events = new EventSource('../events')
  for (const kind of ['added', 'removed', 'covered', 'lent', 'returned']) {
    events.addEventListener(kind, ({ data }) => {
      const item = document.createElement('li')
      const time = new Date().toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' })
      item.append(element('span', `“${JSON.parse(data).title}” was ${kind}`), element('time', time))
      find('events').prepend(item)
      find('events').children[5]?.remove()
      if (kind === 'added' || kind === 'removed') trying(showBooks)
    })
  }
  // A stream that is open would keep the page out of the cache for going back.
  addEventListener('pagehide', () => events.close())
}

find('command').textContent = [
  `curl ${new URL('../books', location.href)} \\`,
  `  -H 'authorization: Bearer ada' \\`,
  `  -H 'content-type: application/json' \\`,
  `  -d '{"title": "Kindred",`,
  `       "author": "Octavia E. Butler"}'`,
].join('\n')
await trying(showBooks)
listen()
connect()
// Not every page is on every runtime; where it is not known which, the links stay.
const pages = await ask('../').catch(() => undefined)
for (const link of document.querySelectorAll('[data-page]')) {
  const { page } = /** @type {HTMLElement} */ (link).dataset
  if (pages !== undefined && pages[page ?? ''] === undefined) link.remove()
}
