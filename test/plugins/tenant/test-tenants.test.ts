import { currentTenant, HttpError, type Request, RouteCollection, Server } from 'framework'
import { testTenants } from 'framework/testing'
import { expect, test } from 'vitest'
import { memoryLogger } from '../../support/kernel.ts'

const a = { headers: { 'x-of': 'a' } }
const b = { headers: { 'x-of': 'b' } }

interface Row {
  readonly id: number
  readonly tenant: string
  title: string
}

/** `forgets`: the method whose handler does not ask whose row it is. */
function shop(forgets?: string) {
  const tenant = { resolve: (req: Request) => req.headers['x-of'] as string | undefined }
  const server = new Server({ plugins: { tenant }, router: new RouteCollection(), logger: memoryLogger() })
  const rows = new Map<number, Row>()
  const find = (req: Request) => {
    const row = rows.get(Number(req.params.id))
    const isOwn = row?.tenant === currentTenant()?.id || req.method === forgets
    if (row === undefined || !isOwn) throw new HttpError(404)
    return row
  }
  server.get('/rows', () => ({ items: [...rows.values()].filter(({ tenant }) => tenant === currentTenant()?.id) }))
  server.post('/rows', (req, res) => {
    const row = { id: rows.size + 1, tenant: currentTenant()!.id, title: (req.body as Row).title }
    rows.set(row.id, row)
    res.created({ id: row.id })
  })
  server.get('/rows/:id', find)
  server.put('/rows/:id', (req) => {
    const { title } = (req.body ?? {}) as Partial<Row>
    if (title === undefined) throw new HttpError(422)
    return Object.assign(find(req), { title })
  })
  server.delete('/rows/:id', (req, res) => {
    rows.delete(find(req).id)
    res.noContent()
  })
  server.get('/books/:id', { tenant: false }, () => 'of everyone')
  return server
}

const bodies = { 'POST /rows': { title: 'one' }, 'PUT /rows/:id': { title: 'changed' } }

test('nothing is reachable in an application that asks', async () => {
  await using server = shop()
  const report = await testTenants(server, [a, b], { bodies })
  expect(report).toEqual({ requests: 6, routes: ['GET /rows/:id', 'PUT /rows/:id', 'DELETE /rows/:id'] })
})

test.for(['GET', 'PUT', 'DELETE'])('a handler of %s that forgets to ask is found', async (method) => {
  await using server = shop(method)
  await expect(testTenants(server, [a, b], { bodies })).rejects.toThrow(
    `one tenant reaches what belongs to another:\n- ${method} /rows/:id: ${method} /rows/`,
  )
})

test('a request that is refused before the question has tested nothing', async () => {
  await using server = shop()
  await expect(testTenants(server, [a, b], { bodies: { 'POST /rows': { title: 'one' } } })).rejects.toThrow(
    /PUT \/rows\/:id: PUT \/rows\/\d is refused with 422: give bodies, or skip it/,
  )
  const create = { 'POST /rows': { title: 'two' } }
  const report = await testTenants(server, [a, b], { bodies: create, skip: ['PUT /rows/:id'] })
  expect(report.routes).toEqual(['GET /rows/:id', 'DELETE /rows/:id'])
})

test('wrong headers, failures and missing parameters have tested nothing; the rest of a path is a parameter', async () => {
  const tenant = { resolve: (req: Request) => req.headers['x-of'] as string | undefined }
  await using server = new Server({ plugins: { tenant }, router: new RouteCollection(), logger: memoryLogger() })
  const owners = new Map([
    ['docs/1', 'a'],
    ['docs/2', 'b'],
  ])
  server.delete('/files/*', (req) => {
    if (owners.get(req.params['*']) !== currentTenant()?.id) throw new HttpError(404)
  })
  const objects = (own: string, more: object = {}) => ({ objects: { '/files/*': [own], ...more } })
  const both = [
    { ...a, ...objects('docs/1') },
    { ...b, ...objects('docs/2') },
  ] as const
  expect(await testTenants(server, both)).toEqual({ requests: 2, routes: ['DELETE /files/*'] })
  const unknown = { ...objects('docs/2'), headers: { 'x-off': 'b' } }
  await expect(testTenants(server, [both[0], unknown])).rejects.toThrow('403: check the headers of the tenants')
  await using failing = new Server({ plugins: { tenant }, router: new RouteCollection(), logger: memoryLogger() })
  failing.delete('/teams/:team/people/:id', () => {
    throw new Error('down')
  })
  const people = (one: object) => ({ objects: { '/teams/:team/people/:id': [one] } }) as object
  const test = (one: object) =>
    testTenants(failing, [
      { ...a, ...people(one) },
      { ...b, ...people(one) },
    ])
  await expect(test({ team: 'x', id: '1' })).rejects.toThrow('DELETE /teams/x/people/1 fails with 500')
  await expect(test({ id: '1' })).rejects.toThrow('an object has no text for the parameter "team"')
})

test('without objects there is no test, and unknown routes are refused', async () => {
  await using server = shop()
  await expect(testTenants(server, [a, b])).rejects.toThrow('GET /rows/:id: no object is known')
  await expect(testTenants(server, [a, b], { skip: ['GET /rowz/:id'] })).rejects.toThrow('not "GET /rowz/:id"')
  await expect(testTenants(server, [{ ...a, objects: { '/rows': ['1'] } }, b])).rejects.toThrow('not "/rows"')
  await expect(testTenants(server, [a] as never)).rejects.toThrow('two tenants')
})

test('objects of the same name are distinguished by what their owners read', async () => {
  const tenant = { resolve: (req: Request) => req.headers['x-of'] as string | undefined }
  await using server = new Server({ plugins: { tenant }, router: new RouteCollection(), logger: memoryLogger() })
  let mixes = false
  server.get('/settings/:name', (req) => `${req.params.name} of ${mixes ? 'all' : currentTenant()?.id}`)
  const objects = { '/settings/:name': ['colour'] }
  const run = () =>
    testTenants(server, [
      { ...a, objects },
      { ...b, objects },
    ])
  expect((await run()).requests).toBe(2)
  mixes = true
  await expect(run()).rejects.toThrow('GET /settings/:name: GET /settings/colour has succeeded with 200')
})
