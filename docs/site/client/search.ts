import MiniSearch from 'minisearch'
import { type Entry, find, searchOptions } from './words.ts'

type Found = Pick<Entry, 'title' | 'heading' | 'section' | 'text'> & { readonly id: string; readonly terms: string[] }

let index: Promise<MiniSearch<Entry>> | undefined
let dialog: HTMLDialogElement | undefined

/** Loads the index on the first search of a page, since it is large. If that fails, the next key tries again. */
function load(root: string): Promise<MiniSearch<Entry>> {
  index ??= fetch(`${root}assets/search.json`)
    .then((response) => {
      if (!response.ok) throw new Error(`${response.status} ${response.statusText}`)
      return response.text()
    })
    .then((text) => MiniSearch.loadJSON<Entry>(text, searchOptions))
    .catch((error) => {
      index = undefined
      throw error
    })
  return index
}

/** Returns the text around the longest word that was found, with all found words marked. */
function excerpt({ text, terms }: Found): (string | HTMLElement)[] {
  const words = terms
    .toSorted((a, b) => b.length - a.length)
    .map((term) => term.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  const first = words.map((word) => text.search(new RegExp(word, 'i'))).find((place) => place >= 0) ?? 0
  const pattern = new RegExp(words.length > 0 ? words.join('|') : '(?!)', 'gi')
  const at = Math.max(0, first - 50)
  const start = at === 0 ? 0 : text.indexOf(' ', at) + 1
  const length = 160
  const rest =
    text.length > start + length ? `${text.slice(start, start + length).replace(/\s\S*$/, '')} …` : text.slice(start)
  const piece = `${start > 0 ? '… ' : ''}${rest}`
  const parts: (string | HTMLElement)[] = []
  let end = 0
  for (const match of piece.matchAll(pattern)) {
    const mark = document.createElement('mark')
    mark.textContent = match[0]
    parts.push(piece.slice(end, match.index), mark)
    end = match.index + match[0].length
  }
  return [...parts, piece.slice(end)]
}

function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Record<string, string>,
  ...children: (string | HTMLElement)[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value)
  made.append(...children)
  return made
}

function row(found: Found, number: number, root: string): HTMLElement {
  const { id, title, heading, section } = found
  const words = [element('b', {}, heading || title), element('small', {}, heading ? `${section} › ${title}` : section)]
  const link = element('a', { href: `${root}${id}`, tabindex: '-1' }, ...words, element('p', {}, ...excerpt(found)))
  return element('li', { role: 'option', id: `found-${number}`, 'aria-selected': String(number === 0) }, link)
}

function make(root: string): HTMLDialogElement {
  const input = element('input', {
    type: 'search',
    placeholder: 'Search the documentation',
    'aria-label': 'Search the documentation',
    role: 'combobox',
    'aria-expanded': 'true',
    'aria-controls': 'found',
    autocomplete: 'off',
    autocapitalize: 'off',
    spellcheck: 'false',
  })
  const list = element('ul', { id: 'found', role: 'listbox', 'aria-label': 'Found' })
  const status = element('p', { role: 'status' })
  const close = element('button', { type: 'button', class: 'close', 'aria-label': 'Close' }, 'Esc')
  const box = element(
    'dialog',
    { class: 'search', 'aria-label': 'Search' },
    element('div', {}, input, close),
    status,
    list,
  )

  const select = (number: number) => {
    const rows = [...list.children]
    const at = rows.length === 0 ? -1 : (number + rows.length) % rows.length
    for (const [i, row] of rows.entries()) row.setAttribute('aria-selected', String(i === at))
    rows[at]?.scrollIntoView({ block: 'nearest' })
    input.setAttribute('aria-activedescendant', rows[at]?.id ?? '')
  }
  const selected = () => [...list.children].findIndex((row) => row.getAttribute('aria-selected') === 'true')
  const show = async () => {
    const query = input.value.trim()
    const loaded = query === '' ? undefined : await load(root).catch(String)
    // A later key may have started another search by now.
    if (query !== input.value.trim()) return
    const failure = typeof loaded === 'string' ? loaded : undefined
    const found = typeof loaded === 'object' ? (find(loaded, query) as unknown as Found[]).slice(0, 20) : []
    list.replaceChildren(...found.map((one, number) => row(one, number, root)))
    if (failure) status.textContent = `The search index could not be loaded (${failure}). Type again to retry.`
    else status.textContent = query === '' || found.length > 0 ? '' : `No results for “${query}”.`
    select(0)
  }
  input.addEventListener('input', () => void show())
  input.addEventListener('keydown', (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) {
      event.preventDefault()
      select(selected() + step)
    }
    // The browser would only empty the field.
    if (event.key === 'Escape') box.close()
    if (event.key === 'Enter') list.children[selected()]?.querySelector('a')?.click()
  })
  close.addEventListener('click', () => box.close())
  box.addEventListener('click', ({ target }) => {
    // A click outside the box, or on a link, which may lead to a part of the page that is already open.
    if (target === box || (target instanceof Element && target.closest('a'))) box.close()
  })
  document.body.append(box)
  return box
}

/** Opens the search of the site whose root is at this path. */
export async function openSearch(root: string): Promise<void> {
  dialog ??= make(root)
  if (!dialog.open) dialog.showModal()
  dialog.querySelector('input')?.select()
  // Starts loading before the first key; a failure is reported at that key.
  await load(root).catch(() => {})
}
