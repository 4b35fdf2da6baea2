import { readReference } from './model.mjs'

/**
 * The pages other than those of the plugins: which names they contain, by the file that declares them, and which page of the
 * documentation explains the names. The pages are shown in this order.
 */
const areas = [
  ['server', 'Servers', 'reference/server.md', /^server\.ts|^kernel\/(kernel|options|life|inspection|runtime)\b/],
  ['router', 'Routes and middleware', 'reference/routes.md', /^kernel\/routing\//],
  ['request', 'Requests', 'reference/request.md', /^kernel\/http\/(request\/|raw)|^plugins\/web-request/],
  ['response', 'Responses', 'reference/response.md', /^kernel\/http\/response\//],
  ['errors', 'Errors', 'reference/failures.md', /^plugins\/shared\/failures\/|^kernel\/(.*error[^/]*\.ts)/],
  ['plugins', 'Plugins', 'reference/plugins.md', /^kernel\/(plugin|pipeline)\//],
  [
    'option-checks',
    'Option checks',
    'reference/option-checks.md',
    /^(plugins\/shared|kernel\/support)\/options|^plugins\/kernel-options/,
  ],
  [
    'commands',
    'Commands and checks',
    'cli/commands.md',
    /^plugins\/(command\.|shared\/(development\/(command|panels)|doctor))/,
  ],
  ['tracing', 'Tracing', 'reference/tracing.md', /^kernel\/.*trace|^plugins\/shared\/work\//],
  ['testing', 'Testing', 'reference/testing.md', /^plugins\/testing\/|^test\/contracts\/|^kernel\/runtime\/inject/],
  ['toolkit', 'Toolkit', 'writing-a-plugin.md', /^(plugins\/shared|kernel\/support)\//],
]
/** Areas that cut across the folders take precedence over the others. */
const precedence = ['testing', 'errors', 'tracing', 'option-checks', 'commands']

/** Returns the page of a name, by the file that declares the name, without the page's text. */
function pageOf(file) {
  const fits = areas.filter(([, , , pattern]) => pattern.test(file))
  const [area, title, explained] = fits.find(([name]) => precedence.includes(name)) ?? fits[0] ?? []
  if (area !== undefined) return { path: `${area}.md`, title, explained: `../${explained}` }
  const plugin = /^plugins\/(\w+)\//.exec(file)?.[1]
  if (plugin === undefined) throw new Error(`${file} has public names and is in no area of the reference`)
  return { path: `plugins/${plugin}.md`, title: `Plugin ${plugin}`, explained: `../../plugins/${plugin}.md` }
}

/** Makes the anchors of headings as GitHub and most site generators do. */
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
/** Leaves out members that are written out inside a type and described around it: the signature shows them. */
const told = (members) => members.filter(({ doc }) => doc.text !== '')
const flat = (text) => text.replace(/\s*\n\s*/g, ' ')

/**
 * Writes the reference as Markdown pages: an index, one page for each area of the kernel, and one for each plugin. They belong in
 * `docs/api/`, from where their links lead to other pages.
 *
 * @param {import('./model.d.mts').Reference} [reference]
 * @returns {import('./pages.d.mts').Page[]}
 */
export function referencePages({ names, links } = readReference()) {
  const pages = new Map()
  for (const name of names) {
    const page = pageOf(name.file)
    if (!pages.has(page.path)) pages.set(page.path, { ...page, names: [] })
    pages.get(page.path).names.push(name)
  }
  const rank = ({ path }) => {
    const place = areas.findIndex(([area]) => path === `${area}.md`)
    return place === -1 ? areas.length : place
  }
  const sorted = [...pages.values()].sort((a, b) => rank(a) - rank(b) || a.path.localeCompare(b.path))
  const places = new Map()
  for (const page of sorted) {
    const slug = slugs()
    slug(page.title)
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
      text.replace(/\{@link ([^\s|}]+)(?:\s*\|\s*([^}]+))?\}/g, (link, name, words) => {
        const id = targets.get(`${file} ${link}`)
        if (id === undefined) return words ?? `\`${name}\``
        return words === undefined ? linkTo(id, from) : linkTo(id, from).replace(/^\[.*?\]/, `[${words}]`)
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

  function memberText({ signatures, ...rest }, from) {
    const member = { ...rest, signatures: signatures.map((one) => one.replace(/^function /, '')) }
    const isShort = member.signatures.length === 1 && flat(member.signatures[0]).length <= 90
    const fence = member.signatures[0].includes('`') ? '``' : '`'
    const signature = isShort
      ? fence + flat(member.signatures[0]) + fence
      : `\`${member.name}\`\n\n${fenced(member.signatures.join('\n'))}`
    const nested = told(member.members)
      .map((one) => memberText(one, from))
      .join('\n')
    const parts = [signature, ...docText(member.doc, member.file, from), ...(nested === '' ? [] : [nested])]
    return `- ${indented(parts.join('\n\n'))}`
  }

  function nameText(name, from) {
    const imports = [...new Set(name.entryPoints.map((entryPoint) => entryPoint.name))].map((as) => {
      const specifiers = name.entryPoints
        .filter((entryPoint) => entryPoint.name === as)
        .map(({ specifier }) => `\`${specifier}\``)
      return `\`${as}\` from ${specifiers.join(', ')}`
    })
    const users = names.filter(({ references }) => references.includes(name.id)).map(({ id }) => linkTo(id, from))
    // A class that is exported as a type cannot be instantiated by those who import it.
    const isType = name.entryPoints.every((entryPoint) => entryPoint.isType)
    const constructors = isType ? [] : name.members.filter(({ signatures: [one] }) => one.startsWith('constructor('))
    const members = told(name.members).filter((member) => member.name !== 'constructor')
    return [
      `## ${name.name}`,
      imports.length === 0 ? `Not exported; see ${users.join(', ')}.` : imports.join('; '),
      fenced(
        [...name.signatures, ...constructors.flatMap(({ signatures }) => signatures)]
          .filter((one) => one !== 'constructor()')
          .join('\n'),
      ),
      ...docText(name.doc, name.file, from),
      ...(members.length > 0 ? [members.map((member) => memberText(member, from)).join('\n')] : []),
      ...(name.references.length > 0 ? [`See ${name.references.map((id) => linkTo(id, from)).join(', ')}.`] : []),
    ].join('\n\n')
  }

  const introOf = ({ title, path, explained }) => {
    const of = path.includes('/') ? ` of the plugin \`${title.replace('Plugin ', '')}\`` : ''
    return `Public names${of}, from the docstrings of the sources. [Another page](${explained}) explains how they are used.`
  }
  const namesOf = (all) =>
    all.flatMap(({ id, entryPoints }) => (entryPoints.length === 0 ? [] : linkTo(id, 'README.md'))).join(', ')
  const list = sorted.map(({ path, title, names }) => `| [${title}](${path}) | ${namesOf(names)} |`)
  const index = [
    '# API',
    'Every name that the package exports, from the docstrings of the sources: signatures, members and examples. Editors show the same.',
    ['| Page | Names |', '| --- | --- |', ...list].join('\n'),
  ]
  return [
    { path: 'README.md', title: 'API', text: `${index.join('\n\n')}\n` },
    ...sorted.map((page) => ({
      path: page.path,
      title: page.title,
      text: `${[`# ${page.title}`, introOf(page), ...page.names.map((name) => nameText(name, page.path))].join('\n\n')}\n`,
    })),
  ]
}
