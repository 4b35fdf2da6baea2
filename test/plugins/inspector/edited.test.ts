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
async function recorded(body: unknown, type = 'application/json', target = '/login/of/ada?token=hidden-t&page=1') {
  const seen: { method: string; url: string; body: unknown; headers: Record<string, unknown> }[] = []
  const { server } = makeServer(true, { urlencoded: true })
  for (const path of ['/login/of/:name', '/reset/:token', '/other'])
    for (const verb of ['put', 'post'] as const)
      server[verb](path, (req) => {
        seen.push({ method: req.method, url: req.url, body: req.body, headers: { ...req.headers } })
        return req.body ?? 'none'
      })
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
])('a redacted value is not moved to %s, where it would be shown', async (_what, change) => {
  const { seen, edit, send } = await recorded({ name: 'ada', password: 'hidden-p' })
  expect(await send(change(edit))).toMatch(/contains \[redacted\]|redacted or cut/)
  expect(seen).toHaveLength(1)
})

test('nor a parameter of the path', async () => {
  const { seen, edit, send } = await recorded({}, 'application/json', '/reset/hidden-t?page=1')
  expect(edit.target).toBe('/reset/[redacted]?page=1')
  expect(await send({ target: '/other/[redacted]' })).toMatch(/the path or a field has changed and contains/)
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
  expect(await form.send({ body: 'note=[redacted]' })).toMatch(/the path or a field has changed and contains/)
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
  [{ headers: 7 as never }, /edit has method, target, headers and body, which are text/],
])('a form that cannot be sent says why: %j', async (change, why) => {
  const { seen, send } = await recorded({})
  expect(await send(change)).toMatch(why)
  expect(seen).toHaveLength(1)
})
