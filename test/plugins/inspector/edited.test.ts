import { afterEach, expect, test } from 'vitest'
import { lookAt, makeServer, servers } from './support.ts'

afterEach(async () => {
  for (const server of servers.splice(0)) await server.close().catch(() => {})
})

interface Edit {
  method: string
  target: string
  headers: string
  body?: string
}

/** A request with secrets in each of its parts, and the way to change and to send it; `seen` is what the application received. */
async function recorded(
  body: unknown,
  type = 'application/json',
  target = '/login/of/ada?token=hidden-t&page=1',
  inspector: object = {},
) {
  const seen: { method: string; url: string; body: unknown; headers: Record<string, unknown> }[] = []
  const { server } = makeServer(inspector, { urlencoded: true, json: { sizeLimit: '1mb' } })
  for (const path of ['/login/of/:name', '/reset/:token', '/other'])
    for (const verb of ['put', 'post'] as const)
      server[verb](path, (req) => {
        seen.push({ method: req.method, url: req.url, body: req.body, headers: { ...req.headers } })
        return req.body ?? 'none'
      })
  const anything = { type: 'object', additionalProperties: { type: 'string', sensitive: true } } as const
  server.put('/marked', { body: anything }, (req) => {
    seen.push({ method: req.method, url: req.url, body: req.body, headers: {} })
    return 'done'
  })
  server.put('/raw', async (req) =>
    seen.push({ method: req.method, url: req.url, body: await req.raw.bytes(1_000), headers: {} }),
  )
  server.patch('/reset/:id', (req) => {
    seen.push({ method: req.method, url: req.url, body: req.body, headers: {} })
    throw new Error(`no ${req.params.id}`)
  })
  const look = await lookAt(server)
  await server.inject({
    method: 'PUT',
    url: target,
    headers: { 'content-type': type, authorization: 'Bearer hidden-a', 'x-page': '1' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  const { id, http } = await look.newest('request')
  const { edit } = http as unknown as { edit: Edit }
  const send = async (change: Partial<Edit>) => {
    const sent = await look.json<{ id?: number; message?: string }>('replay', { id, edit: { ...edit, ...change } })
    return sent.message ?? (await look.details(sent.id!))
  }
  return { seen, edit, send, look }
}

test('a form shows a request without its secrets', async () => {
  const { edit } = await recorded({ name: 'ada', password: 'hidden-p' })
  expect(edit).toMatchObject({ method: 'PUT', target: '/login/of/ada?token=[redacted]&page=1' })
  expect(edit.headers).toContain('authorization: [redacted]\nx-page: 1')
  expect(JSON.parse(edit.body!)).toEqual({ name: 'ada', password: '[redacted]' })
  expect(JSON.stringify(edit)).not.toContain('hidden')
})

test('what is unchanged has its real value again, and what has changed is sent as it is', async () => {
  const { seen, edit, send } = await recorded({ name: 'ada', password: 'hidden-p', list: [{ apiKey: 'hidden-k' }] })
  await send({
    method: 'POST',
    target: edit.target.replace('page=1', 'page=2'),
    headers: `${edit.headers.replace('x-page: 1', 'X-Page: 2')}\nx-new: a:b`,
    body: edit.body!.replace('ada', 'bob'),
  })
  expect(seen[1]).toMatchObject({
    method: 'POST',
    url: expect.stringContaining('/login/of/ada?token=hidden-t&page=2'),
    headers: { authorization: 'Bearer hidden-a', 'x-page': '2', 'x-new': 'a:b' },
    body: { name: 'bob', password: 'hidden-p', list: [{ apiKey: 'hidden-k' }] },
  })
})

test('the page shows the new request without the secrets too, and links it', async () => {
  const { edit, send } = await recorded({ name: 'ada', password: 'hidden-p' })
  const made = await send({ target: `/other${edit.target.slice(edit.target.indexOf('?'))}` })
  expect(made).toMatchObject({ note: '200', data: { repeats: expect.any(Number) } })
  expect(JSON.stringify(made)).not.toContain('hidden')
})

test.each<[what: string, change: (edit: Edit) => Partial<Edit>]>([
  ['another header', ({ headers }) => ({ headers: headers.replace('authorization:', 'x-note:') })],
  ['another parameter', ({ target }) => ({ target: target.replace('token=', 'note=') })],
  ['another member', ({ body }) => ({ body: body!.replace('"password"', '"note"') })],
  ['another level', () => ({ body: '{"name":"ada","more":{"password":"[redacted]"}}' })],
  ['a list', () => ({ body: '{"name":["[redacted]"],"password":"[redacted]"}' })],
  ['a JSON list as the body', () => ({ body: '[{"password":"[redacted]"}]' })],
  ['text', () => ({ body: 'password is [redacted]' })],
  ['a header that was not there', ({ headers }) => ({ headers: `${headers}\nx-api-key: [redacted]` })],
])('a redacted value is not moved to %s, where it would be shown', async (_what, change) => {
  const { seen, edit, send } = await recorded({ name: 'ada', password: 'hidden-p' })
  expect(await send(change(edit))).toMatch(/contains \[redacted\]|redacted or cut/)
  expect(seen).toHaveLength(1)
})

test('nor a parameter of the path', async () => {
  const { seen, edit, send } = await recorded({}, 'application/json', '/reset/hidden-t?page=1')
  expect(edit.target).toBe('/reset/[redacted]?page=1')
  expect(await send({ target: '/other/[redacted]' })).toMatch(/the path has changed and contains/)
  expect(await send({ target: '/other?&/reset/[redacted]' })).toMatch(/a field has changed and contains/)
  await send({ target: '/reset/[redacted]?page=2' })
  expect(seen.map(({ url }) => url.replace('http://localhost', ''))).toEqual([
    '/reset/hidden-t?page=1',
    '/reset/hidden-t?page=2',
  ])
  expect(JSON.stringify(await send({ method: 'PATCH', target: '/reset/[redacted]' }))).not.toContain('hidden')
  expect(seen[2]!.url).toContain('/reset/hidden-t')
})

test('a form keeps its secrets by their names, and other text that is redacted stays whole', async () => {
  const form = await recorded('name=ada&password=hidden-p', 'application/x-www-form-urlencoded')
  expect(form.edit.body).toBe('name=ada&password=[redacted]')
  await form.send({ body: 'name=bob&password=[redacted]' })
  expect(form.seen[1]!.body).toEqual({ name: 'bob', password: 'hidden-p' })
  expect(await form.send({ body: 'note=[redacted]' })).toMatch(/a field has changed and contains/)
})

test('JSON without secrets is sent as it was written, with all the digits of its numbers', async () => {
  const { send, edit } = await recorded({ name: 'ada' })
  const made = (await send({ body: edit.body!.replace('"ada"', '12345678901234567890') })) as unknown as {
    http: { edit: Edit; request: { body: { size: number } } }
  }
  expect(made.http.request.body.size).toBe('{\n  "name": 12345678901234567890\n}'.length)
})

test.each<[change: Partial<Edit>, why: RegExp]>([
  [{ method: 'NO WORD' }, /the method is a word such as POST, not "NO WORD"/],
  [{ target: 'http://away.example/' }, /the path begins with "\/"/],
  [{ target: '/a b' }, /the path begins with "\/" and has no spaces/],
  [{ headers: 'no header' }, /a header is "name: value", not "no header"/],
  [{ headers: 'a: b\r\nc' }, /a header is "name: value"/],
  [{ headers: 'a: b\0' }, /a header is "name: value"/],
  [{ headers: 'a: b\nA: c' }, /the header a is there twice/],
  [{ headers: 'connection: close' }, /the header connection is made anew with each request/],
  [{ headers: 7 as never }, /edit takes method, target, headers and body, which are strings/],
])('a form that cannot be sent says why: %j', async (change, why) => {
  const { seen, send } = await recorded({})
  expect(await send(change)).toMatch(why)
  expect(seen).toHaveLength(1)
})

test.each<[how: string, body: unknown, type: string, change: (edit: Edit) => Partial<Edit>]>([
  [
    'another name beside it',
    { field: { name: 'password', value: 'hidden-p' } },
    'application/json',
    ({ body }) => ({ body: body!.replace('"password"', '"note"') }),
  ],
  [
    'another type of JSON',
    { field: { name: 'password', value: 'hidden-p' } },
    'application/json',
    ({ headers }) => ({ headers: headers.replace('application/json', 'text/plain') }),
  ],
  [
    'another type of a form',
    'pass%77ord=hidden-p',
    'application/x-www-form-urlencoded',
    ({ headers }) => ({ headers: headers.replace(/type: .*/, 'type: text/plain') }),
  ],
  [
    'another type of what is not shown at all',
    '--b\r\ncontent-disposition: form-data; name="password"\r\n\r\nhidden-p\r\n--b--\r\n',
    'multipart/form-data; boundary=b',
    ({ headers }) => ({ headers: headers.replace(/type: .*/, 'type: text/plain') }),
  ],
])('a redacted body is not shown through %s', async (_how, body, type, change) => {
  const { seen, edit, send } = await recorded(body, type, type.startsWith('multipart') ? '/raw' : undefined)
  expect(await send(change(edit))).toMatch(/the page would show what is redacted in the body/)
  expect(seen).toHaveLength(1)
})

test('fields that look the same keep their own values, also where a value has the separators of a query', async () => {
  const same = await recorded('password=hidden-1&password=hidden-2', 'application/x-www-form-urlencoded')
  await same.send({ body: `${same.edit.body}&x=1` })
  expect(same.seen[1]!.body).toEqual({ password: ['hidden-1', 'hidden-2'], x: '1' })
  const split = await recorded('password=a?hidden&next=%2F%3Ftoken%3Dz', 'application/x-www-form-urlencoded')
  await split.send({ body: `${split.edit.body}&x=1` })
  expect(split.seen[1]!.body).toEqual({ password: 'a?hidden', next: '/?token=z', x: '1' })
})

test('a query that is shown decoded keeps its encoding', async () => {
  const { seen, edit, send } = await recorded({}, 'application/json', '/other?next=a+b%3Ftoken%3Dhidden&page=1')
  expect(edit.target).toBe('/other?next=a b?token=[redacted]&page=1')
  await send({ target: edit.target.replace('page=1', 'page=2') })
  await send({ headers: 'x-page: 2' })
  expect(seen.map(({ url }) => url.slice(url.indexOf('?')))).toEqual(
    [1, 2, 1].map((page) => `?next=a+b%3Ftoken%3Dhidden&page=${page}`),
  )
})

test('a JSON body that is cut or broken is not sent as if it was whole', async () => {
  const many = Object.fromEntries(Array.from({ length: 20_001 }, (_, i) => [`k${i}`, 0]))
  const cut = await recorded({ password: 'hidden', ...many }, 'application/json', '/other', { bodyLimit: '1mb' })
  expect(await cut.send({ body: cut.edit.body!.replace('"k1": 0', '"k1": 1') })).toMatch(/was shown redacted or cut/)
  const broken = await recorded({ password: 'hidden' })
  expect(await broken.send({ body: broken.edit.body!.replace('}', '') })).toMatch(
    /the body, which is not a JSON object/,
  )
})

test('what a schema marks without a name has its value on its own route alone, where it is not shown', async () => {
  const { seen, edit, send } = await recorded({ one: 'hidden-1', two: 'hidden-2' }, 'application/json', '/marked')
  expect(JSON.parse(edit.body!)).toEqual({ one: '[redacted]', two: '[redacted]' })
  expect(JSON.stringify(await send({ headers: `${edit.headers}\nx-new: 1` }))).not.toContain('hidden')
  expect(seen.map(({ body }) => body)).toEqual(Array(2).fill({ one: 'hidden-1', two: 'hidden-2' }))
  expect(await send({ target: '/other' })).toContain('would show what is redacted')
  expect(seen).toHaveLength(2)
})
