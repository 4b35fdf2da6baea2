/** @param {string} path @param {RequestInit} [init] */
async function ask(path, init) {
  const res = await fetch(path, init)
  return res.status === 204 ? undefined : res.json()
}

/** @param {{ id: string, title: string, author: string }} book @param {string} label @param {() => Promise<unknown>} act */
function row({ title, author }, label, act) {
  const item = document.createElement('li')
  const name = document.createElement('span')
  name.textContent = title
  const by = document.createElement('small')
  by.textContent = ` ${author}`
  name.append(by)
  const button = document.createElement('button')
  button.textContent = label
  button.addEventListener('click', () => act().then(show))
  item.append(name, button)
  return item
}

async function show() {
  const [books, list] = await Promise.all([ask('/books'), ask('/list')])
  const find = (/** @type {string} */ id) => document.getElementById(id)
  find('books')?.replaceChildren(
    ...books.map((/** @type {any} */ book) => row(book, 'read', () => ask(`/list/${book.id}`, { method: 'PUT' }))),
  )
  find('list')?.replaceChildren(
    ...list.map((/** @type {any} */ book) => row(book, 'remove', () => ask(`/list/${book.id}`, { method: 'DELETE' }))),
  )
}

await show()
