// The script of the page, in a block with `h`, which makes elements. It builds elements and sets texts, and never parses markup, so that a
// description cannot run anything.

const { from, path } = document.currentScript.dataset
const link = (name) => new URL(from + name, location.href).href
const main = document.getElementById('main')
const verbs = ['get', 'head', 'post', 'put', 'patch', 'delete', 'options', 'trace', 'x-query']
let spec

/** A node whose content is made when it is opened for the first time. */
function folded(attributes, title, content) {
  return h(
    'details',
    {
      ...attributes,
      ontoggle: ({ target }) => {
        if (target.open && target.childElementCount === 1) target.append(h('div', { class: 'inside' }, content()))
      },
    },
    h('summary', {}, title),
  )
}

function resolved(value, depth = 0) {
  if (typeof value?.$ref !== 'string' || depth > 8) return value
  const { $ref, ...beside } = value
  const target = $ref
    .replace(/^#\//, '')
    .split('/')
    .reduce((at, key) => at?.[decodeURIComponent(key).replace(/~1/g, '/').replace(/~0/g, '~')], spec)
  const one = resolved(target, depth + 1)
  return typeof one === 'object' && one !== null ? { ...one, ...beside } : one
}

/** Markdown without HTML: what is in angle brackets is shown as it is. */
function markdown(text) {
  const nodes = []
  let list
  for (const [, fence, block] of String(text ?? '')
    .replace(/\r\n?/g, '\n')
    .matchAll(/```[^\n]*\n([\s\S]*?)(?:\n```|$)|((?:(?!```)[^\n]+\n?)+)/g)) {
    if (fence !== undefined) {
      nodes.push(h('pre', { tabindex: '0' }, fence))
      continue
    }
    const lines = block.trim().split('\n')
    if (lines.every((line) => /^\s*(?:[-*+]|\d+[.)]) |^\s+\S/.test(line))) {
      list = h(/^\s*\d/.test(lines[0]) ? 'ol' : 'ul', {})
      for (const line of lines) {
        if (/^\s*(?:[-*+]|\d+[.)]) /.test(line)) list.append(h('li', {}, inline(line.replace(/^\s*\S+ /, ''))))
        else list.lastChild?.append(' ', ...inline(line.trim()))
      }
      nodes.push(list)
    } else if (/^#{1,6} /.test(lines[0]) && lines.length === 1)
      nodes.push(h('p', {}, h('strong', {}, inline(lines[0].replace(/^#+ /, '')))))
    else nodes.push(h('p', {}, inline(lines.join('\n'))))
  }
  return nodes
}

function inline(text) {
  const nodes = []
  let rest = 0
  for (const found of text.matchAll(/`([^`]+)`|\*\*([^*]+)\*\*|\*([^*\s][^*]*)\*|\[([^\]]+)\]\(([^)\s]+)\)/g)) {
    const [all, code, bold, slanted, label, target] = found
    nodes.push(text.slice(rest, found.index))
    rest = found.index + all.length
    if (code !== undefined) nodes.push(h('code', {}, code))
    else if (bold !== undefined) nodes.push(h('strong', {}, bold))
    else if (slanted !== undefined) nodes.push(h('em', {}, slanted))
    // Not javascript: and the like, which a click would run.
    else
      nodes.push(/^(?:https?:|mailto:|[^:]*$)/i.test(target) ? h('a', { href: target, rel: 'noreferrer' }, label) : all)
  }
  return [...nodes, text.slice(rest)]
}

const nameOf = (ref) => decodeURIComponent(ref.split('/').at(-1))

/** The type of a schema in a few words. */
function typeOf(schema, depth = 0) {
  if (schema === true || schema === undefined || depth > 6) return 'any'
  if (schema === false) return 'nothing'
  if (schema.$ref) return nameOf(schema.$ref)
  if ('const' in schema) return JSON.stringify(schema.const)
  if (schema.enum) return schema.enum.map((one) => JSON.stringify(one)).join(' | ')
  const parts = schema.anyOf ?? schema.oneOf
  if (parts) return parts.map((one) => typeOf(one, depth + 1)).join(' | ')
  if (schema.allOf) return schema.allOf.map((one) => typeOf(one, depth + 1)).join(' & ')
  const type = [schema.type ?? (schema.properties ? 'object' : 'any')].flat()
  return type
    .map((one) => (one === 'array' && schema.items ? `(${typeOf(schema.items, depth + 1)})[]` : one))
    .join(' | ')
    .replace(/\((\w+)\)/g, '$1')
}

const limits = [
  'format',
  'pattern',
  'minimum',
  'exclusiveMinimum',
  'maximum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'uniqueItems',
  'default',
]
const limitsOf = (schema) =>
  limits
    .filter((name) => schema?.[name] !== undefined)
    .map((name) => `${name}: ${JSON.stringify(schema[name])}`)
    .join(', ')

/** The members of a schema: its own, those of the elements of a list, and those of each of several schemas. */
function membersOf(given, depth = 0) {
  const schema = resolved(given)
  if (typeof schema !== 'object' || schema === null || depth > 6) return []
  const own = Object.entries(schema.properties ?? {}).map(([name, one]) => ({
    name,
    schema: one,
    required: schema.required?.includes(name),
  }))
  if (typeof schema.additionalProperties === 'object') own.push({ name: '\u2026', schema: schema.additionalProperties })
  const inner = [
    schema.items,
    ...(schema.prefixItems ?? []),
    ...(schema.allOf ?? []),
    ...(schema.anyOf ?? []),
    ...(schema.oneOf ?? []),
  ]
  return [...own, ...inner.flatMap((one) => membersOf(one, depth + 1))]
}

/** A schema with its members; the members of a member are made when it is opened, since schemas may contain themselves. */
function schemaNode(given) {
  if (given === undefined) return undefined
  const list = (members) =>
    h(
      'ul',
      { class: 'schema' },
      members.map(({ name, schema, required }) => {
        const one = resolved(schema)
        const inner = membersOf(schema)
        const line = [
          h('code', {}, name),
          ' ',
          h('span', { class: 'type' }, typeOf(schema)),
          required && badge('required'),
          one?.readOnly && badge('read-only'),
          one?.writeOnly && badge('write-only'),
          one?.deprecated && badge('deprecated'),
        ]
        const about = [
          limitsOf(one) && h('span', { class: 'dim' }, ` ${limitsOf(one)}`),
          one?.description && markdown(one.description),
        ]
        return h('li', {}, inner.length === 0 ? line : folded({}, line, () => list(inner)), about)
      }),
    )
  const schema = resolved(given)
  const members = membersOf(given)
  return h(
    'div',
    {},
    h('p', {}, h('span', { class: 'type' }, typeOf(given)), ' ', h('span', { class: 'dim' }, limitsOf(schema))),
    schema?.description && markdown(schema.description),
    members.length > 0 && list(members),
  )
}

/** A value that a schema may accept, to begin with. */
function exampleOf(given, depth = 0) {
  const schema = resolved(given)
  if (typeof schema !== 'object' || schema === null || depth > 6) return null
  for (const name of ['example', 'default', 'const']) if (schema[name] !== undefined) return schema[name]
  if (schema.examples?.length || schema.enum?.length) return (schema.examples ?? schema.enum)[0]
  const parts = schema.anyOf ?? schema.oneOf
  if (parts) return exampleOf(parts[0], depth + 1)
  const inherited = (schema.allOf ?? []).map((one) => exampleOf(one, depth + 1))
  const type = [schema.type ?? (schema.properties || schema.allOf ? 'object' : undefined)].flat()[0]
  if (type === 'object') {
    const own = Object.entries(schema.properties ?? {}).filter(([, one]) => resolved(one)?.readOnly !== true)
    return Object.assign(
      {},
      ...inherited,
      Object.fromEntries(own.map(([name, one]) => [name, exampleOf(one, depth + 1)])),
    )
  }
  if (type === 'array') return schema.items && depth < 5 ? [exampleOf(schema.items, depth + 1)] : []
  if (type === 'integer' || type === 'number') return schema.minimum ?? 0
  if (type === 'boolean') return false
  if (type !== 'string') return null
  const formats = {
    date: '2026-01-31',
    'date-time': '2026-01-31T12:00:00Z',
    email: 'ann@example.org',
    uri: 'https://example.org',
    uuid: '00000000-0000-4000-8000-000000000000',
  }
  return formats[schema.format] ?? ''
}

const withoutSlash = (url) => url.replace(/\/$/, '')
/** The beginning of the addresses of requests. A proxy may have removed a prefix that the server does not know. */
const ownBase = () =>
  location.origin + (location.pathname.endsWith(path) ? location.pathname.slice(0, -path.length) : '')
const addressOf = ({ url, variables = {} }) =>
  withoutSlash(
    new URL(
      url.replace(/\{([^}]+)\}/g, (all, name) => variables[name]?.default ?? all),
      link('json'),
    ).href,
  )
let base

function serverNode() {
  const servers = spec.servers ?? []
  base = servers.length === 0 ? ownBase() : addressOf(servers[0])
  if (servers.length < 2) return h('span', { class: 'dim' }, base)
  const options = servers.map((one) =>
    h('option', { value: addressOf(one) }, addressOf(one) + (one.description ? ` - ${one.description}` : '')),
  )
  return h(
    'label',
    {},
    'Server ',
    h(
      'select',
      {
        onchange: ({ target }) => {
          base = target.value
        },
      },
      options,
    ),
  )
}

/** What was entered for each security scheme. It stays in this page only: what is stored, every script of this host could read. */
const credentials = new Map()

function credentialsNode() {
  const schemes = Object.entries(spec.components?.securitySchemes ?? {})
  if (schemes.length === 0) return undefined
  return h(
    'details',
    { class: 'credentials' },
    h('summary', {}, 'Credentials'),
    h(
      'form',
      { class: 'inside', onsubmit: (event) => event.preventDefault() },
      schemes.map(([name, given]) => {
        const scheme = resolved(given) ?? {}
        const field = (label, put, secret = true) =>
          h(
            'label',
            {},
            label,
            h('input', {
              type: secret ? 'password' : 'text',
              autocomplete: 'off',
              oninput: ({ target }) => put(target.value),
            }),
          )
        const about = [markdown(scheme.description)]
        if (scheme.type === 'apiKey') {
          if (scheme.in === 'cookie')
            return h(
              'fieldset',
              {},
              h('legend', {}, name),
              about,
              h('p', {}, 'The browser sends the cookie ', h('code', {}, scheme.name), ' by itself once it has it.'),
            )
          return h(
            'fieldset',
            {},
            h('legend', {}, name),
            about,
            field(scheme.name, (value) => credentials.set(name, value && { in: scheme.in, name: scheme.name, value })),
          )
        }
        const header = (value) => credentials.set(name, value && { in: 'header', name: 'authorization', value })
        if (scheme.type === 'http' && scheme.scheme?.toLowerCase() === 'basic') {
          const pair = ['', '']
          const put = (i) => (value) => {
            pair[i] = value
            header(`Basic ${btoa(String.fromCharCode(...new TextEncoder().encode(pair.join(':'))))}`)
          }
          return h(
            'fieldset',
            {},
            h('legend', {}, name),
            about,
            field('User', put(0), false),
            field('Password', put(1)),
          )
        }
        const prefix = scheme.type === 'http' && scheme.scheme?.toLowerCase() !== 'bearer' ? scheme.scheme : 'Bearer'
        return h(
          'fieldset',
          {},
          h('legend', {}, name),
          about,
          field(prefix === 'Bearer' ? 'Token' : prefix, (value) => header(value && `${prefix} ${value}`)),
        )
      }),
    ),
  )
}

const isBinary = (schema) =>
  schema?.format === 'binary' ||
  schema?.contentMediaType !== undefined ||
  (schema?.type === 'array' && isBinary(resolved(schema.items)))

/** A field for one value; "read" returns what was entered, as a list of strings or files. */
function fieldOf(name, given, { required, note, example }) {
  const schema = resolved(given) ?? {}
  const choices = schema.enum ?? (schema.type === 'boolean' ? [true, false] : undefined)
  const start = example ?? schema.example ?? schema.default
  const input = choices
    ? h(
        'select',
        { required },
        !required && h('option', { value: '' }),
        choices.map((one) => h('option', { value: String(one), selected: one === start }, String(one))),
      )
    : isBinary(schema)
      ? h('input', { type: 'file', required, multiple: schema.type === 'array' })
      : h('input', {
          type: 'text',
          required,
          value: start === undefined ? undefined : typeof start === 'object' ? JSON.stringify(start) : String(start),
        })
  const label = h(
    'label',
    { class: 'field' },
    h(
      'span',
      {},
      h('code', {}, name),
      ' ',
      h('span', { class: 'type' }, typeOf(given)),
      required && badge('required'),
      note && badge(note),
    ),
    input,
    h(
      'span',
      { class: 'dim' },
      [schema.type === 'array' && !isBinary(schema) && 'separated by commas', limitsOf(schema)]
        .filter(Boolean)
        .join(', '),
    ),
  )
  const read = () =>
    input.type === 'file'
      ? [...input.files]
      : input.value === '' && !required
        ? []
        : schema.type === 'array'
          ? input.value.split(',').map((one) => one.trim())
          : [input.value]
  return { label, read, name, schema }
}

/** The body of a request in one media type; "read" returns it as fetch takes it. */
function bodyFields(type, given) {
  if (/^multipart\/form-data|^application\/x-www-form-urlencoded/.test(type)) {
    const fields = membersOf(given)
      .filter(({ name }) => name !== '\u2026')
      .map(({ name, schema, required }) => fieldOf(name, schema, { required: required === true }))
    const read = () => {
      const form = type.startsWith('multipart') ? new FormData() : new URLSearchParams()
      for (const field of fields) for (const one of field.read()) form.append(field.name, one)
      return form
    }
    return { nodes: fields.map(({ label }) => label), read }
  }
  const isText = /json|^text\/|xml|yaml|javascript/.test(type)
  if (!isText) {
    const input = h('input', { type: 'file' })
    return { nodes: h('label', { class: 'field' }, 'File', input), read: () => input.files[0] }
  }
  const area = h('textarea', { rows: '8', spellcheck: 'false' })
  const example = exampleOf(given)
  area.value = typeof example === 'string' && !type.includes('json') ? example : JSON.stringify(example, null, 2)
  return { nodes: h('label', { class: 'field' }, h('span', {}, 'Body'), area), read: () => area.value }
}

function requestForm({ method, path, operation, item }) {
  const parameters = new Map()
  for (const one of [...(item.parameters ?? []), ...(operation.parameters ?? [])].map((one) => resolved(one)))
    parameters.set(one.in + one.name, one)
  const fields = [...parameters.values()]
    .filter((one) => one.in !== 'cookie')
    .map((one) => ({
      ...fieldOf(one.name, one.schema, { required: one.required === true, note: one.in, example: one.example }),
      parameter: one,
    }))
  const content = Object.entries(resolved(operation.requestBody)?.content ?? {})
  let body
  const bodyPlace = h('div', {})
  const choose = (type) => {
    body = { type, ...bodyFields(type, content.find(([one]) => one === type)[1].schema) }
    bodyPlace.replaceChildren(...[body.nodes].flat())
  }
  const schemaPlace =
    content.length > 0 &&
    folded({}, 'Schema of the body', () =>
      content.map(([type, { schema }]) => [h('p', { class: 'dim' }, type), schemaNode(schema)]),
    )
  if (content.length > 0) choose(content[0][0])
  const result = h('div', { class: 'result', role: 'status' })
  const button = h('button', { type: 'submit' }, 'Send')
  let running
  const submit = async (event) => {
    event.preventDefault()
    if (running) return running.abort()
    running = new AbortController()
    button.textContent = 'Stop'
    await send({ method, path, operation, fields, body, signal: running.signal }, result)
    running = undefined
    button.textContent = 'Send'
  }
  return h(
    'form',
    { onsubmit: submit },
    fields.map(({ label, parameter }) => [label, markdown(parameter.description)]),
    content.length > 0 && h('h3', {}, 'Body'),
    markdown(resolved(operation.requestBody)?.description),
    content.length > 1 &&
      h(
        'label',
        {},
        'Content type ',
        h(
          'select',
          { onchange: ({ target }) => choose(target.value) },
          content.map(([type]) => h('option', {}, type)),
        ),
      ),
    bodyPlace,
    schemaPlace,
    h('p', {}, button),
    result,
  )
}

/** The address and the headers of a request. */
function requestOf({ path, operation, fields, body }) {
  const headers = new Headers()
  const query = new URLSearchParams()
  const encoded = new Map()
  for (const { name, read, parameter, schema } of fields) {
    const values = read()
    if (values.length === 0) continue
    if (parameter.in === 'header') headers.set(name, values.join(','))
    // The rest of a path keeps its slashes.
    else if (parameter.in === 'path')
      encoded.set(
        name,
        name === 'wildcard'
          ? values.join(',').split('/').map(encodeURIComponent).join('/')
          : encodeURIComponent(values.join(',')),
      )
    else if (schema.type === 'object') {
      const members = Object.entries(JSON.parse(values[0]))
      for (const [key, value] of members)
        query.append(parameter.style === 'deepObject' ? `${name}[${key}]` : key, value)
    } else if (parameter.explode === false) query.set(name, values.join(','))
    else for (const value of values) query.append(name, value)
  }
  for (const name of needsOf(operation).flatMap(Object.keys)) {
    const known = credentials.get(name)
    if (known?.in === 'header') headers.set(known.name, known.value)
    if (known?.in === 'query') query.set(known.name, known.value)
  }
  // The browser writes the type of a form, with its boundary.
  if (body && !(body.type.startsWith('multipart') || body.type.includes('urlencoded')))
    headers.set('content-type', body.type)
  const start = operation.servers?.length ? addressOf(operation.servers[0]) : base
  const text = query.toString()
  return {
    url: start + path.replace(/\{([^}]+)\}/g, (_all, name) => encoded.get(name) ?? '') + (text && `?${text}`),
    headers,
  }
}

async function send(request, result) {
  const shown = h('pre', { tabindex: '0', 'aria-label': 'Response body' })
  try {
    const { url, headers } = requestOf(request)
    const method = verbOf(request.method)
    const start = performance.now()
    result.replaceChildren(h('p', { class: 'dim' }, h('code', {}, `${method} ${url}`)))
    const body = method === 'GET' || method === 'HEAD' ? undefined : request.body?.read()
    const response = await fetch(url, { method, headers, body, signal: request.signal })
    const all = [...response.headers]
    result.append(
      h(
        'p',
        {},
        h('strong', { class: `status s${String(response.status)[0]}` }, `${response.status} ${response.statusText}`),
        ' ',
        h('span', { class: 'dim' }, `${Math.round(performance.now() - start)} ms`),
      ),
      folded({}, `${all.length} headers`, () =>
        h('pre', { tabindex: '0' }, all.map((one) => one.join(': ')).join('\n')),
      ),
      shown,
    )
    await showBody(response, shown)
  } catch (error) {
    const why = request.signal.aborted
      ? 'Stopped.'
      : error instanceof SyntaxError
        ? `A value is not JSON: ${error.message}`
        : 'The request failed: ' +
          error.message +
          '. The reason is in the console of the browser; for another host, it may not allow this page (CORS).'
    result.append(h('p', { class: 'failed' }, why))
  }
}

const maxShown = 1_000_000

/** Text as it arrives, because a stream of events does not end; anything else as a file. */
async function showBody(response, shown) {
  const type = response.headers.get('content-type') ?? ''
  if (type !== '' && !/json|^text\/|xml|yaml|javascript|urlencoded/.test(type)) {
    const url = URL.createObjectURL(await response.blob())
    return shown.replaceWith(h('p', {}, h('a', { href: url, download: '' }, `Download (${type})`)))
  }
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true }
    if (done) break
    text += value
    shown.textContent = text.slice(0, maxShown)
    if (text.length > maxShown) return reader.cancel()
  }
  if (type.includes('json'))
    try {
      shown.textContent = JSON.stringify(JSON.parse(text), null, 2)
    } catch {
      /* Shown as it is. */
    }
  if (text === '') shown.replaceWith(h('p', { class: 'dim' }, 'No body.'))
}

const badge = (text) => h('span', { class: 'badge' }, text)
const verbOf = (method) => method.replace('x-', '').toUpperCase()
const needsOf = (operation) => (operation.security ?? spec.security ?? []).filter((one) => Object.keys(one).length > 0)

function operationNode({ method, path, operation, item }) {
  const needs = needsOf(operation)
  const title = [
    h('span', { class: `verb ${method}` }, verbOf(method)),
    ' ',
    h('code', { class: operation.deprecated ? 'old' : undefined }, path),
    operation.summary && h('span', { class: 'what' }, operation.summary),
    operation.deprecated && badge('deprecated'),
    needs.length > 0 &&
      h('span', { class: 'lock', role: 'img', 'aria-label': 'needs credentials', title: 'needs credentials' }),
  ]
  const node = folded({ class: 'operation', id: operation.operationId ?? method + path }, title, () => [
    markdown(operation.description),
    operation.externalDocs &&
      h('p', {}, inline(`[${operation.externalDocs.description ?? 'More'}](${operation.externalDocs.url})`)),
    needs.length > 0 &&
      h(
        'p',
        {},
        'Needs ',
        needs.map((one, i) => [
          i > 0 && ' or ',
          Object.entries(one).map(([name, roles], j) => [
            j > 0 && ' and ',
            h('code', {}, name),
            roles.length > 0 && ` (${roles.join(', ')})`,
          ]),
        ]),
      ),
    requestForm({ method, path, operation, item }),
    h('h3', {}, 'Responses'),
    Object.entries(operation.responses ?? {}).map(([status, given]) => {
      const { description, content = {}, headers = {} } = resolved(given) ?? {}
      return h(
        'div',
        { class: 'response' },
        h('p', {}, h('strong', { class: `status s${status[0]}` }, status), ' ', inline(description ?? '')),
        Object.entries(headers).map(([name, header]) =>
          h('p', { class: 'dim' }, h('code', {}, name), ' ', inline(resolved(header)?.description ?? '')),
        ),
        Object.entries(content).map(([type, { schema }]) => [h('p', { class: 'dim' }, type), schemaNode(schema)]),
      )
    }),
  ])
  node.addEventListener('toggle', () => node.open && history.replaceState(null, '', `#${encodeURIComponent(node.id)}`))
  return node
}

function show() {
  const { info = {}, paths = {}, tags = [] } = spec
  const all = Object.entries(paths).flatMap(([path, given]) => {
    const item = resolved(given) ?? {}
    return verbs.filter((method) => item[method]).map((method) => ({ method, path, operation: item[method], item }))
  })
  const names = [
    ...new Set([...tags.map(({ name }) => name), ...all.map(({ operation }) => operation.tags?.[0] ?? 'other')]),
  ]
  const groups = names.flatMap((name) => {
    const own = all.filter(({ operation }) => (operation.tags?.length ? operation.tags : ['other']).includes(name))
    if (own.length === 0) return []
    const rows = own.map((one) => ({
      node: operationNode(one),
      text: [verbOf(one.method), one.path, one.operation.summary, name].join(' ').toLowerCase(),
    }))
    const node = h(
      'section',
      {},
      h('h2', { id: `tag-${name}` }, name),
      markdown(tags.find((tag) => tag.name === name)?.description),
      rows.map((row) => row.node),
    )
    return [{ name, node, rows }]
  })
  const none = h('p', { class: 'dim', hidden: true }, 'No operation matches.')
  const filter = h('input', {
    type: 'search',
    placeholder: 'Filter',
    'aria-label': 'Filter operations',
    oninput: () => {
      const words = filter.value.toLowerCase().split(/\s+/)
      for (const { node, rows } of groups) {
        for (const row of rows) row.node.hidden = !words.every((word) => row.text.includes(word))
        node.hidden = rows.every((row) => row.node.hidden)
      }
      none.hidden = groups.some(({ node }) => !node.hidden)
    },
  })
  main.replaceChildren(
    h(
      'div',
      { class: 'about' },
      markdown(info.summary),
      markdown(info.description),
      h(
        'p',
        { class: 'dim' },
        ['license', 'contact'].map(
          (key) =>
            info[key] && [
              info[key].url
                ? inline(`[${info[key].name ?? key}](${info[key].url})`)
                : (info[key].name ?? info[key].email ?? ''),
              ' ',
            ],
        ),
        spec.externalDocs && inline(`[${spec.externalDocs.description ?? 'Documentation'}](${spec.externalDocs.url})`),
      ),
    ),
    h('div', { class: 'bar' }, serverNode(), credentialsNode(), filter),
    none,
    ...groups.map(({ node }) => node),
  )
  document.getElementById('version').textContent = info.version ?? ''
}

function openHash() {
  const node = document.getElementById(decodeURIComponent(location.hash.slice(1)))
  if (node?.matches('details')) node.open = true
  node?.scrollIntoView()
}

async function load() {
  const response = await fetch(link('json'), { credentials: 'same-origin' })
  if (!response.ok) throw new Error(`${response.status} ${response.statusText}`)
  spec = await response.json()
  show()
  openHash()
  addEventListener('hashchange', openHash)
}
load().catch((error) =>
  main.replaceChildren(h('p', { role: 'alert' }, `The description cannot be loaded: ${error.message}`)),
)
