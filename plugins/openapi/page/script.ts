import { elementsScript } from '../../shared/pages/elements.ts'
import { pageForms } from './forms.ts'
import { pageSchemas } from './schemas.ts'

/**
 * The script of the page: plain JavaScript for browsers, so it is a string here. It builds elements and sets texts, and never parses markup, so
 * that a description cannot run anything.
 */
export const pageScript = String.raw`'use strict'
{
const { from, path } = document.currentScript.dataset
const link = (name) => new URL(from + name, location.href).href
const main = document.getElementById('main')
const verbs = ['get', 'head', 'post', 'put', 'patch', 'delete', 'options', 'trace', 'x-query']
let spec
${elementsScript}
/** A node whose content is made when it is opened for the first time. */
function folded(attributes, title, content) {
  return h('details', { ...attributes, ontoggle: ({ target }) => {
    if (target.open && target.childElementCount === 1) target.append(h('div', { class: 'inside' }, content()))
  } }, h('summary', {}, title))
}

function resolved(value, depth = 0) {
  if (typeof value?.$ref !== 'string' || depth > 8) return value
  const { $ref, ...beside } = value
  const target = $ref.replace(/^#\//, '').split('/').reduce((at, key) => at?.[decodeURIComponent(key).replace(/~1/g, '/').replace(/~0/g, '~')], spec)
  const one = resolved(target, depth + 1)
  return typeof one === 'object' && one !== null ? { ...one, ...beside } : one
}

/** Markdown without HTML: what is in angle brackets is shown as it is. */
function markdown(text) {
  const nodes = []
  let list
  for (const [, fence, block] of String(text ?? '').replace(/\r\n?/g, '\n').matchAll(/${'```'}[^\n]*\n([\s\S]*?)(?:\n${'```'}|$)|((?:(?!${'```'})[^\n]+\n?)+)/g)) {
    if (fence !== undefined) { nodes.push(h('pre', { tabindex: '0' }, fence)); continue }
    const lines = block.trim().split('\n')
    if (lines.every((line) => /^\s*(?:[-*+]|\d+[.)]) |^\s+\S/.test(line))) {
      list = h(/^\s*\d/.test(lines[0]) ? 'ol' : 'ul', {})
      for (const line of lines) {
        if (/^\s*(?:[-*+]|\d+[.)]) /.test(line)) list.append(h('li', {}, inline(line.replace(/^\s*\S+ /, ''))))
        else list.lastChild?.append(' ', ...inline(line.trim()))
      }
      nodes.push(list)
    } else if (/^#{1,6} /.test(lines[0]) && lines.length === 1) nodes.push(h('p', {}, h('strong', {}, inline(lines[0].replace(/^#+ /, '')))))
    else nodes.push(h('p', {}, inline(lines.join('\n'))))
  }
  return nodes
}

function inline(text) {
  const nodes = []
  let rest = 0
  for (const found of text.matchAll(/${'`'}([^${'`'}]+)${'`'}|\*\*([^*]+)\*\*|\*([^*\s][^*]*)\*|\[([^\]]+)\]\(([^)\s]+)\)/g)) {
    const [all, code, bold, slanted, label, target] = found
    nodes.push(text.slice(rest, found.index))
    rest = found.index + all.length
    if (code !== undefined) nodes.push(h('code', {}, code))
    else if (bold !== undefined) nodes.push(h('strong', {}, bold))
    else if (slanted !== undefined) nodes.push(h('em', {}, slanted))
    // Not javascript: and the like, which a click would run.
    else nodes.push(/^(?:https?:|mailto:|[^:]*$)/i.test(target) ? h('a', { href: target, rel: 'noreferrer' }, label) : all)
  }
  return [...nodes, text.slice(rest)]
}
${pageSchemas}${pageForms}
const badge = (text) => h('span', { class: 'badge' }, text)
const verbOf = (method) => method.replace('x-', '').toUpperCase()
const needsOf = (operation) => (operation.security ?? spec.security ?? []).filter((one) => Object.keys(one).length > 0)

function operationNode({ method, path, operation, item }) {
  const needs = needsOf(operation)
  const title = [
    h('span', { class: 'verb ' + method }, verbOf(method)), ' ', h('code', { class: operation.deprecated ? 'old' : undefined }, path),
    operation.summary && h('span', { class: 'what' }, operation.summary), operation.deprecated && badge('deprecated'),
    needs.length > 0 && h('span', { class: 'lock', role: 'img', 'aria-label': 'needs credentials', title: 'needs credentials' }),
  ]
  const node = folded({ class: 'operation', id: operation.operationId ?? method + path }, title, () => [
    markdown(operation.description),
    operation.externalDocs && h('p', {}, inline('[' + (operation.externalDocs.description ?? 'More') + '](' + operation.externalDocs.url + ')')),
    needs.length > 0 && h('p', {}, 'Needs ', needs.map((one, i) => [i > 0 && ' or ', Object.entries(one).map(([name, roles], j) => [
      j > 0 && ' and ', h('code', {}, name), roles.length > 0 && ' (' + roles.join(', ') + ')'])])),
    requestForm({ method, path, operation, item }),
    h('h3', {}, 'Responses'),
    Object.entries(operation.responses ?? {}).map(([status, given]) => {
      const { description, content = {}, headers = {} } = resolved(given) ?? {}
      return h('div', { class: 'response' }, h('p', {}, h('strong', { class: 'status s' + status[0] }, status), ' ', inline(description ?? '')),
        Object.entries(headers).map(([name, header]) => h('p', { class: 'dim' }, h('code', {}, name), ' ', inline(resolved(header)?.description ?? ''))),
        Object.entries(content).map(([type, { schema }]) => [h('p', { class: 'dim' }, type), schemaNode(schema)]))
    }),
  ])
  node.addEventListener('toggle', () => node.open && history.replaceState(null, '', '#' + encodeURIComponent(node.id)))
  return node
}

function show() {
  const { info = {}, paths = {}, tags = [] } = spec
  const all = Object.entries(paths).flatMap(([path, given]) => {
    const item = resolved(given) ?? {}
    return verbs.filter((method) => item[method]).map((method) => ({ method, path, operation: item[method], item }))
  })
  const names = [...new Set([...tags.map(({ name }) => name), ...all.map(({ operation }) => operation.tags?.[0] ?? 'other')])]
  const groups = names.flatMap((name) => {
    const own = all.filter(({ operation }) => (operation.tags?.length ? operation.tags : ['other']).includes(name))
    if (own.length === 0) return []
    const rows = own.map((one) => ({ node: operationNode(one), text: [verbOf(one.method), one.path, one.operation.summary, name].join(' ').toLowerCase() }))
    const node = h('section', {}, h('h2', { id: 'tag-' + name }, name), markdown(tags.find((tag) => tag.name === name)?.description), rows.map((row) => row.node))
    return [{ name, node, rows }]
  })
  const none = h('p', { class: 'dim', hidden: true }, 'No operation matches.')
  const filter = h('input', { type: 'search', placeholder: 'Filter', 'aria-label': 'Filter operations', oninput: () => {
    const words = filter.value.toLowerCase().split(/\s+/)
    for (const { node, rows } of groups) {
      for (const row of rows) row.node.hidden = !words.every((word) => row.text.includes(word))
      node.hidden = rows.every((row) => row.node.hidden)
    }
    none.hidden = groups.some(({ node }) => !node.hidden)
  } })
  main.replaceChildren(
    h('div', { class: 'about' }, markdown(info.summary), markdown(info.description),
      h('p', { class: 'dim' }, ['license', 'contact'].map((key) => info[key] && [info[key].url
        ? inline('[' + (info[key].name ?? key) + '](' + info[key].url + ')') : (info[key].name ?? info[key].email ?? ''), ' ']),
        spec.externalDocs && inline('[' + (spec.externalDocs.description ?? 'Documentation') + '](' + spec.externalDocs.url + ')'))),
    h('div', { class: 'bar' }, serverNode(), credentialsNode(), filter), none,
    ...groups.map(({ node }) => node))
  document.getElementById('version').textContent = info.version ?? ''
}

function openHash() {
  const node = document.getElementById(decodeURIComponent(location.hash.slice(1)))
  if (node?.matches('details')) node.open = true
  node?.scrollIntoView()
}

async function load() {
  const response = await fetch(link('json'), { credentials: 'same-origin' })
  if (!response.ok) throw new Error(response.status + ' ' + response.statusText)
  spec = await response.json()
  show()
  openHash()
  addEventListener('hashchange', openHash)
}
load().catch((error) => main.replaceChildren(h('p', { role: 'alert' }, 'The description cannot be loaded: ' + error.message)))
}
`
