/** How a request is entered and sent, and its response shown, a part of the script. */
export const pageForms = String.raw`
const withoutSlash = (url) => url.replace(/\/$/, '')
/** The beginning of the addresses of requests. A proxy may have removed a prefix that the server does not know. */
const ownBase = () => location.origin + (location.pathname.endsWith(path) ? location.pathname.slice(0, -path.length) : '')
const addressOf = ({ url, variables = {} }) =>
  withoutSlash(new URL(url.replace(/\{([^}]+)\}/g, (all, name) => variables[name]?.default ?? all), link('json')).href)
let base

function serverNode() {
  const servers = spec.servers ?? []
  base = servers.length === 0 ? ownBase() : addressOf(servers[0])
  if (servers.length < 2) return h('span', { class: 'dim' }, base)
  const options = servers.map((one) => h('option', { value: addressOf(one) }, addressOf(one) + (one.description ? ' - ' + one.description : '')))
  return h('label', {}, 'Server ', h('select', { onchange: ({ target }) => { base = target.value } }, options))
}

/** What was entered for each security scheme. It stays in this page only: what is stored, every script of this host could read. */
const credentials = new Map()

function credentialsNode() {
  const schemes = Object.entries(spec.components?.securitySchemes ?? {})
  if (schemes.length === 0) return undefined
  return h('details', { class: 'credentials' }, h('summary', {}, 'Credentials'), h('form', { class: 'inside', onsubmit: (event) => event.preventDefault() }, schemes.map(([name, given]) => {
    const scheme = resolved(given) ?? {}
    const field = (label, put, secret = true) => h('label', {}, label, h('input', { type: secret ? 'password' : 'text', autocomplete: 'off', oninput: ({ target }) => put(target.value) }))
    const about = [markdown(scheme.description)]
    if (scheme.type === 'apiKey') {
      if (scheme.in === 'cookie') return h('fieldset', {}, h('legend', {}, name), about, h('p', {}, 'The browser sends the cookie ', h('code', {}, scheme.name), ' by itself once it has it.'))
      return h('fieldset', {}, h('legend', {}, name), about, field(scheme.name, (value) => credentials.set(name, value && { in: scheme.in, name: scheme.name, value })))
    }
    const header = (value) => credentials.set(name, value && { in: 'header', name: 'authorization', value })
    if (scheme.type === 'http' && scheme.scheme?.toLowerCase() === 'basic') {
      const pair = ['', '']
      const put = (i) => (value) => { pair[i] = value; header('Basic ' + btoa(String.fromCharCode(...new TextEncoder().encode(pair.join(':'))))) }
      return h('fieldset', {}, h('legend', {}, name), about, field('User', put(0), false), field('Password', put(1)))
    }
    const prefix = scheme.type === 'http' && scheme.scheme?.toLowerCase() !== 'bearer' ? scheme.scheme : 'Bearer'
    return h('fieldset', {}, h('legend', {}, name), about, field(prefix === 'Bearer' ? 'Token' : prefix, (value) => header(value && prefix + ' ' + value)))
  })))
}

const isBinary = (schema) => schema?.format === 'binary' || schema?.contentMediaType !== undefined || (schema?.type === 'array' && isBinary(resolved(schema.items)))

/** A field for one value; "read" returns what was entered, as a list of strings or files. */
function fieldOf(name, given, { required, note, example }) {
  const schema = resolved(given) ?? {}
  const choices = schema.enum ?? (schema.type === 'boolean' ? [true, false] : undefined)
  const start = example ?? schema.example ?? schema.default
  const input = choices
    ? h('select', { required }, !required && h('option', { value: '' }), choices.map((one) => h('option', { value: String(one), selected: one === start }, String(one))))
    : isBinary(schema)
      ? h('input', { type: 'file', required, multiple: schema.type === 'array' })
      : h('input', { type: 'text', required, value: start === undefined ? undefined : typeof start === 'object' ? JSON.stringify(start) : String(start) })
  const label = h('label', { class: 'field' }, h('span', {}, h('code', {}, name), ' ', h('span', { class: 'type' }, typeOf(given)), required && badge('required'), note && badge(note)),
    input, h('span', { class: 'dim' }, [schema.type === 'array' && !isBinary(schema) && 'separated by commas', limitsOf(schema)].filter(Boolean).join(', ')))
  const read = () => input.type === 'file' ? [...input.files] : input.value === '' && !required ? [] : schema.type === 'array' ? input.value.split(',').map((one) => one.trim()) : [input.value]
  return { label, read, name, schema }
}

/** The body of a request in one media type; "read" returns it as fetch takes it. */
function bodyFields(type, given) {
  if (/^multipart\/form-data|^application\/x-www-form-urlencoded/.test(type)) {
    const fields = membersOf(given).filter(({ name }) => name !== '\u2026').map(({ name, schema, required }) => fieldOf(name, schema, { required: required === true }))
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
  for (const one of [...(item.parameters ?? []), ...(operation.parameters ?? [])].map((one) => resolved(one))) parameters.set(one.in + one.name, one)
  const fields = [...parameters.values()].filter((one) => one.in !== 'cookie').map((one) => ({
    ...fieldOf(one.name, one.schema, { required: one.required === true, note: one.in, example: one.example }), parameter: one,
  }))
  const content = Object.entries(resolved(operation.requestBody)?.content ?? {})
  let body
  const bodyPlace = h('div', {})
  const choose = (type) => {
    body = { type, ...bodyFields(type, content.find(([one]) => one === type)[1].schema) }
    bodyPlace.replaceChildren(...[body.nodes].flat())
  }
  const schemaPlace = content.length > 0 && folded({}, 'Schema of the body', () => content.map(([type, { schema }]) => [h('p', { class: 'dim' }, type), schemaNode(schema)]))
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
  return h('form', { onsubmit: submit }, fields.map(({ label, parameter }) => [label, markdown(parameter.description)]),
    content.length > 0 && h('h3', {}, 'Body'), markdown(resolved(operation.requestBody)?.description),
    content.length > 1 && h('label', {}, 'Content type ', h('select', { onchange: ({ target }) => choose(target.value) }, content.map(([type]) => h('option', {}, type)))),
    bodyPlace, schemaPlace, h('p', {}, button), result)
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
    else if (parameter.in === 'path') encoded.set(name, name === 'wildcard' ? values.join(',').split('/').map(encodeURIComponent).join('/') : encodeURIComponent(values.join(',')))
    else if (schema.type === 'object') {
      const members = Object.entries(JSON.parse(values[0]))
      for (const [key, value] of members) query.append(parameter.style === 'deepObject' ? name + '[' + key + ']' : key, value)
    } else if (parameter.explode === false) query.set(name, values.join(','))
    else for (const value of values) query.append(name, value)
  }
  for (const name of needsOf(operation).flatMap(Object.keys)) {
    const known = credentials.get(name)
    if (known?.in === 'header') headers.set(known.name, known.value)
    if (known?.in === 'query') query.set(known.name, known.value)
  }
  // The browser writes the type of a form, with its boundary.
  if (body && !(body.type.startsWith('multipart') || body.type.includes('urlencoded'))) headers.set('content-type', body.type)
  const start = operation.servers?.length ? addressOf(operation.servers[0]) : base
  const text = query.toString()
  return { url: start + path.replace(/\{([^}]+)\}/g, (all, name) => encoded.get(name) ?? '') + (text && '?' + text), headers }
}

async function send(request, result) {
  const shown = h('pre', { tabindex: '0', 'aria-label': 'Response body' })
  try {
    const { url, headers } = requestOf(request)
    const method = verbOf(request.method)
    const start = performance.now()
    result.replaceChildren(h('p', { class: 'dim' }, h('code', {}, method + ' ' + url)))
    const body = method === 'GET' || method === 'HEAD' ? undefined : request.body?.read()
    const response = await fetch(url, { method, headers, body, signal: request.signal })
    const all = [...response.headers]
    result.append(h('p', {}, h('strong', { class: 'status s' + String(response.status)[0] }, response.status + ' ' + response.statusText), ' ',
      h('span', { class: 'dim' }, Math.round(performance.now() - start) + ' ms')),
    folded({}, all.length + ' headers', () => h('pre', { tabindex: '0' }, all.map((one) => one.join(': ')).join('\n'))), shown)
    await showBody(response, shown)
  } catch (error) {
    const why = request.signal.aborted ? 'Stopped.' : error instanceof SyntaxError ? 'A value is not JSON: ' + error.message
      : 'The request failed: ' + error.message + '. The reason is in the console of the browser; for another host, it may not allow this page (CORS).'
    result.append(h('p', { class: 'failed' }, why))
  }
}

const maxShown = 1_000_000

/** Text as it arrives, because a stream of events does not end; anything else as a file. */
async function showBody(response, shown) {
  const type = response.headers.get('content-type') ?? ''
  if (type !== '' && !/json|^text\/|xml|yaml|javascript|urlencoded/.test(type)) {
    const url = URL.createObjectURL(await response.blob())
    return shown.replaceWith(h('p', {}, h('a', { href: url, download: '' }, 'Download (' + type + ')')))
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
  if (type.includes('json')) try { shown.textContent = JSON.stringify(JSON.parse(text), null, 2) } catch { /* Shown as it is. */ }
  if (text === '') shown.replaceWith(h('p', { class: 'dim' }, 'No body.'))
}
`
