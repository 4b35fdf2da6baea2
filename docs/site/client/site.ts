const all = <T extends HTMLElement>(selector: string) => [...document.querySelectorAll<T>(selector)]

/** Switches between light and dark; if the new theme is the system's, the page follows the system again. */
function switchTheme() {
  const system = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'
  const { dataset } = document.documentElement
  const next = (dataset.theme ?? system) === 'dark' ? 'light' : 'dark'
  if (next === system) {
    delete dataset.theme
    localStorage.removeItem('theme')
  } else {
    dataset.theme = next
    localStorage.setItem('theme', next)
  }
}

function copyButton(words: string, text: () => string | Promise<string>): HTMLButtonElement {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'copy'
  button.textContent = words
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(await text())
    button.textContent = 'Copied'
    setTimeout(() => {
      button.textContent = words
    }, 1500)
  })
  return button
}

function addCopyButtons() {
  // A browser gives a page access to the clipboard only over https and on loopback.
  if (navigator.clipboard === undefined) return
  for (const figure of all('figure.code'))
    figure.append(copyButton('Copy', () => `${figure.querySelector('pre:not([hidden]) code')?.textContent ?? ''}\n`))
  for (const link of all<HTMLAnchorElement>('.page-actions a:first-child'))
    link.after(copyButton('Copy page', async () => (await fetch(link.href)).text()))
}

/** Adds a button for each package manager; the choice holds for all pages. */
function addManagers() {
  const choose = (manager: string) => {
    localStorage.setItem('manager', manager)
    show()
  }
  const show = () => {
    const chosen = localStorage.getItem('manager') ?? 'npm'
    for (const block of all('.commands pre')) block.hidden = block.dataset.manager !== chosen
    for (const button of all('.managers button'))
      button.setAttribute('aria-pressed', String(button.textContent === chosen))
  }
  for (const figure of all('.commands')) {
    const group = document.createElement('div')
    group.className = 'managers'
    group.role = 'group'
    group.ariaLabel = 'Package manager'
    for (const { dataset } of figure.querySelectorAll('pre')) {
      const button = document.createElement('button')
      button.type = 'button'
      button.textContent = dataset.manager ?? ''
      button.addEventListener('click', () => choose(button.textContent ?? ''))
      group.append(button)
    }
    figure.prepend(group)
  }
  show()
}

/** Shows the type of the name under the pointer. */
function showTypes() {
  const note = document.createElement('div')
  note.className = 'type'
  note.hidden = true
  // For people who point: a screen reader has the comments of the code.
  note.ariaHidden = 'true'
  document.body.append(note)
  addEventListener('pointerover', ({ target }) => {
    const name = target instanceof Element ? target.closest<HTMLElement>('[data-type]') : null
    note.hidden = name === null
    if (name === null) return
    note.textContent = name.dataset.type ?? ''
    const { left, bottom } = name.getBoundingClientRect()
    note.style.left = `${Math.max(8, Math.min(left, innerWidth - note.offsetWidth - 8))}px`
    note.style.top = `${bottom + 4}px`
  })
  const hide = () => {
    note.hidden = true
  }
  addEventListener('scroll', hide, { passive: true })
  // It covers the lines below: without moving the pointer it goes as well (WCAG 2.2, 1.4.13).
  addEventListener('keydown', ({ key }) => key === 'Escape' && hide())
}

/** Marks the part in “On this page” that is being read. */
function followReading() {
  const links = new Map(
    all<HTMLAnchorElement>('.contents a').map((link) => [decodeURIComponent(link.hash.slice(1)), link]),
  )
  const headings = all('article :is(h2, h3)[id]').filter(({ id }) => links.has(id))
  const update = () => {
    const current = headings.findLast((heading) => heading.getBoundingClientRect().top < 120)?.id
    for (const [id, link] of links) {
      if (id !== current) link.removeAttribute('aria-current')
      else if (!link.hasAttribute('aria-current')) {
        link.setAttribute('aria-current', 'true')
        // The list itself may be longer than the screen.
        const list = link.closest('.contents')
        list?.scrollTo({ top: link.offsetTop - list.clientHeight / 2 })
      }
    }
  }
  let waits = false
  addEventListener(
    'scroll',
    () => {
      if (waits) return
      waits = true
      requestAnimationFrame(() => {
        waits = false
        update()
      })
    },
    { passive: true },
  )
  update()
}

/** Lets parts that are too wide for the page be scrolled with the keyboard, too. */
function reachWideParts() {
  for (const part of all('pre, .table')) if (part.scrollWidth > part.clientWidth) part.tabIndex = 0
}

function makeMenu() {
  const button = document.querySelector<HTMLButtonElement>('button.menu')
  const sidebar = document.getElementById('sidebar')
  if (button === null || sidebar === null) return
  const show = (open: boolean) => {
    button.setAttribute('aria-expanded', String(open))
    document.body.classList.toggle('menu-open', open)
  }
  button.addEventListener('click', () => show(button.getAttribute('aria-expanded') !== 'true'))
  addEventListener('keydown', ({ key }) => key === 'Escape' && show(false))
  document.getElementById('main')?.addEventListener('click', () => show(false))
  // The open page may be far down in the sidebar.
  const current = sidebar.querySelector<HTMLElement>('[aria-current]')
  if (current !== null) sidebar.scrollTop = current.offsetTop - sidebar.clientHeight / 3
}

async function search() {
  const { openSearch } = await import('./search.ts')
  await openSearch(document.documentElement.dataset.root ?? '')
}

// On a wide screen, the list is next to the text; on a narrow one, it is above the text and would push it down.
if (!matchMedia('(min-width: 1200px)').matches)
  for (const list of all<HTMLDetailsElement>('.contents')) list.open = false
document.querySelector('button.theme')?.addEventListener('click', switchTheme)
document.querySelector('button.search')?.addEventListener('click', () => void search())
addEventListener('keydown', (event) => {
  const isTyping = event.target instanceof HTMLElement && event.target.matches('input, textarea, select')
  const wanted = (event.key === '/' && !isTyping) || (event.key === 'k' && (event.ctrlKey || event.metaKey))
  if (!wanted) return
  event.preventDefault()
  void search()
})
addManagers()
addCopyButtons()
if (document.querySelector('[data-type]') !== null) showTypes()
reachWideParts()
followReading()
makeMenu()
