import { readReference } from './model.mjs'

/** The pages, each with where its names come from; the first that fits takes a name. A plugin has a page by itself. */
const areas = [
  ['testing', 'Testing', /^plugins\/testing\/|^kernel\/runtime\/inject/],
  [
    'errors',
    'Errors',
    /^plugins\/toolkit\/failures\/|^kernel\/(support\/errors|http\/response\/failure|pipeline\/failure)/,
  ],
  ['tracing', 'Tracing', /^kernel\/(support\/trace|.*traces?\.ts)/],
  ['server', 'Servers', /^server\.ts|^kernel\/(kernel|options|life|inspect|runtime)\b/],
  ['router', 'Routes and middleware', /^kernel\/routing\//],
  ['request', 'Requests', /^kernel\/http\/(request\/|raw)/],
  ['response', 'Responses', /^kernel\/http\//],
  ['plugins', 'Plugins', /^kernel\/(plugin|pipeline)\//],
  ['commands', 'Commands and checks', /^plugins\/toolkit\/(command|doctor|panels)/],
  ['option-checks', 'Option checks', /^plugins\/toolkit\/options\/|^kernel\/support\/options/],
  ['toolkit', 'Toolkit', /^plugins\/toolkit\/|^kernel\//],
]

/** @param {string} file @returns {[path: string, title: string]} */
function pageOf(file) {
  const area = areas.find(([, , pattern]) => pattern.test(file))
  if (area !== undefined) return [`${area[0]}.md`, area[1]]
  const plugin = /^plugins\/(\w+)\//.exec(file)?.[1]
  if (plugin === undefined) throw new Error(`${file} has public names and is in no area of the reference`)
  return [`plugins/${plugin}.md`, plugin]
}

/** The anchors that headings get, as GitHub and most tools for sites make them. */
function slugs() {
  const taken = new Map()
  return (heading) => {
    const slug = heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replace(/\s/g, '-')
    const count = taken.get(slug) ?? 0
    taken.set(slug, count + 1)
    return count === 0 ? slug : `${slug}-${count}`
  }
}

const indented = (text) => text.replace(/\n(?=.)/g, '\n  ')
const fenced = (code) => `\`\`\`ts\n${code}\n\`\`\``
const flat = (text) => text.replace(/\s*\n\s*/g, ' ')

/**
 * The reference as pages in Markdown: an index, one page an area of the kernel, one page a plugin.
 *
 * @param {import('./model.d.mts').Reference} [reference]
 * @returns {import('./pages.d.mts').Page[]}
 */
export function referencePages({ names, links } = readReference(true)) {
  const pages = new Map()
  for (const name of names) {
    const [path, title] = pageOf(name.file)
    if (!pages.has(path)) pages.set(path, { path, title, names: [] })
    pages.get(path).names.push(name)
  }
  const sorted = [...pages.values()].sort((a, b) => a.path.localeCompare(b.path))
  const places = new Map()
  for (const page of sorted) {
    const slug = slugs()
    slug(page.path.includes('/') ? `Plugin ${page.title}` : page.title)
    page.names.sort((a, b) => a.name.localeCompare(b.name) || a.id - b.id)
    for (const name of page.names) places.set(name.id, { page, name, anchor: slug(name.name) })
  }
  const linkTo = (id, from) => {
    const { page, name, anchor } = places.get(id)
    const up = from.includes('/') ? '../' : ''
    return `[\`${name.name}\`](${page.path === from ? '' : up + page.path}#${anchor})`
  }
  const targets = new Map(links.map(({ text, target, file }) => [`${file} ${text}`, target]))

  /** @param {import('./model.d.mts').Docstring} doc */
  function docText(doc, file, from) {
    const linked = (text) =>
      text.replace(/\{@link (\S+)\}/g, (link, name) => {
        const id = targets.get(`${file} ${link}`)
        return id === undefined ? `\`${name}\`` : linkTo(id, from)
      })
    return [
      ...doc.deprecated.map((why) => `**Deprecated.** ${linked(why)}`),
      linked(doc.text),
      ...(doc.params.length > 0 ? [doc.params.map((param) => `- ${linked(param)}`).join('\n')] : []),
      ...doc.returns.map((what) => `Returns ${linked(what)}`),
      ...doc.throws.map((what) => `Throws ${linked(what)}`),
      ...doc.examples.map(fenced),
    ].filter((part) => part !== '')
  }

  function memberText(member, from) {
    const isShort = member.signatures.length === 1 && flat(member.signatures[0]).length <= 90
    const fence = member.signatures[0].includes('`') ? '``' : '`'
    const signature = isShort
      ? fence + flat(member.signatures[0]) + fence
      : `\`${member.name}\`\n\n${fenced(member.signatures.join('\n'))}`
    const nested = member.members.map((one) => memberText(one, from)).join('\n')
    const parts = [signature, ...docText(member.doc, member.file, from), ...(nested === '' ? [] : [nested])]
    return `- ${indented(parts.join('\n\n'))}`
  }

  function nameText(name, from) {
    const imports = [...new Set(name.doors.map((door) => door.name))].map((as) => {
      const specifiers = name.doors.filter((door) => door.name === as).map(({ specifier }) => `\`${specifier}\``)
      return `\`${as}\` from ${specifiers.join(', ')}`
    })
    // A class that is exported as a type is not made by those who import it.
    const isType = name.doors.every((door) => door.isType)
    const constructors = isType ? [] : name.members.filter((member) => member.name === 'constructor')
    const members = name.members.filter((member) => member.name !== 'constructor')
    return [
      `## ${name.name}`,
      imports.join('; '),
      fenced([...name.signatures, ...constructors.flatMap(({ signatures }) => signatures)].join('\n')),
      ...docText(name.doc, name.file, from),
      ...(members.length > 0 ? [members.map((member) => memberText(member, from)).join('\n')] : []),
      ...(name.references.length > 0 ? [`See ${name.references.map((id) => linkTo(id, from)).join(', ')}.`] : []),
    ].join('\n\n')
  }

  const list = sorted.map(
    ({ path, title, names }) => `| [${title}](${path}) | ${names.map(({ name }) => `\`${name}\``).join(', ')} |`,
  )
  const index = [
    '# API',
    'Every public name, from its docstring.',
    ['| Page | Names |', '| --- | --- |', ...list].join('\n'),
  ]
  return [
    { path: 'README.md', title: 'API', text: `${index.join('\n\n')}\n` },
    ...sorted.map(({ path, title, names }) => ({
      path,
      title,
      text: `${[`# ${path.includes('/') ? `Plugin ${title}` : title}`, ...names.map((name) => nameText(name, path))].join('\n\n')}\n`,
    })),
  ]
}
