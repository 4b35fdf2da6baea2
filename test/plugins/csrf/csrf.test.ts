import { RouteCollection, Server } from 'framework'
import { describe, expect, onTestFinished, test } from 'vitest'
import { Examination } from '../../../cli/doctor/examine.ts'
import { memoryLogger } from '../../support/kernel.ts'

function makeServer(plugins: object = {}) {
  const server = new Server({
    plugins: { csrf: { origins: ['https://app.example.org'] }, ...plugins } as { csrf: object },
    router: new RouteCollection(),
    logger: memoryLogger(),
  })
  onTestFinished(() => server.close())
  for (const method of ['get', 'post', 'put', 'patch', 'delete'] as const) server[method]('/', () => method)
  server.post('/callback', { csrf: false }, () => 'called')
  return server
}

const here = 'http://localhost'
describe('an unsafe request', () => {
  test.each<[Record<string, string>, number]>([
    [{ 'sec-fetch-site': 'cross-site' }, 403],
    [{ 'sec-fetch-site': 'same-site', origin: 'https://blog.example.org' }, 403],
    [{ 'sec-fetch-site': 'cross-site', origin: here }, 403],
    [{ 'sec-fetch-site': '' }, 403],
    [{ 'sec-fetch-site': 'Same-Origin' }, 403],
    [{ origin: 'https://evil.example' }, 403],
    [{ origin: 'null' }, 403],
    [{ origin: '' }, 403],
    [{ origin: 'http://localhost.evil.example' }, 403],
    [{ origin: 'http://localhost:81' }, 403],
    [{ origin: 'https://app.example.org.evil.example' }, 403],
    [{ origin: `${here}, https://evil.example` }, 403],
    [{ 'sec-fetch-site': 'same-origin' }, 200],
    [{ 'sec-fetch-site': 'same-origin', origin: 'null' }, 200],
    [{ 'sec-fetch-site': 'none' }, 200],
    [{ 'sec-fetch-site': 'cross-site', origin: 'https://app.example.org' }, 200],
    [{ origin: here, host: 'localhost' }, 200],
    [{}, 200],
  ])('with %j is %i, with any method', async (headers, status) => {
    const server = makeServer()
    for (const method of ['post', 'put', 'patch', 'delete'] as const)
      (await server.inject[method]('/', { headers: { cookie: 'sid=1', ...headers } })).assertStatus(status)
    ;(await server.inject.get('/', { headers })).assertStatus(200)
    ;(await server.inject.post('/callback', { headers })).assertStatus(200)
  })

  test('is refused by its name, before sessions and credentials are read, and where no route is', async () => {
    const server = makeServer({ session: { secret: '0123456789abcdef0123456789' } })
    const headers = { 'sec-fetch-site': 'cross-site' }
    ;(await server.inject.post('/', { headers })).assertStatus(403).assertBodyDeepEqual({
      code: 'CsrfError',
      message:
        'CSRF: this request comes from a page of another origin, which the option origins of the plugin csrf does not list',
    })
    ;(await server.inject.post('/missing', { headers })).assertStatus(403)
  })

  test('is one that another method hides', async () => {
    const server = makeServer({ methodOverride: true })
    const headers = { 'x-http-method-override': 'DELETE', 'sec-fetch-site': 'cross-site' }
    ;(await server.inject.post('/', { headers })).assertStatus(403)
    ;(await server.inject.post('/', { headers: { ...headers, 'x-http-method-override': 'GET' } })).assertStatus(403)
    const own = { 'x-http-method-override': 'DELETE', 'sec-fetch-site': 'same-origin' }
    expect((await server.inject.post('/', { headers: own })).body()).toBe('delete')
  })
})

test('preflights are answered by cors, and OpenAPI has the refusal', async () => {
  const server = makeServer({ cors: { origin: 'https://app.example.org', credentials: true }, openapi: true })
  const res = await server.inject.options('/', {
    headers: { origin: 'https://app.example.org', 'access-control-request-method': 'DELETE' },
  })
  res.assertStatus(204)
  const { paths } = server.services.get('openapi').document()
  expect(Object.keys((paths['/']!.post as { responses: object }).responses)).toContain('403')
  expect(Object.keys((paths['/']!.get as { responses: object }).responses)).not.toContain('403')
})

test('doctor says which routes sessions reach and csrf does not', async () => {
  const secret = '0123456789abcdef0123456789abcdef'
  const findings = async (plugins: object) => {
    const server = makeServer({ session: { secret }, ...plugins })
    await server.ready()
    const examination = new Examination()
    await examination.askPlugins({ folder: '/', file: '/server.ts', production: false, server, booted: true }, false)
    return examination.found.filter(({ code }) => code === 'session.csrf-missing')
  }
  expect(await findings({})).toEqual([])
  expect(await findings({ csrf: false, session: false })).toEqual([])
  const [found, ...others] = await findings({ csrf: false })
  expect(others).toEqual([])
  // Not those for reading, nor `csrf: false`.
  expect(found!.problem).toMatch(/with the session of a user to POST \/ and 3 more$/)
  expect(found!.remedy).toBe('Register the plugin csrf: plugins: { csrf: true }')
})
