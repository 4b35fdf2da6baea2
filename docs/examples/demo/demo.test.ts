import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { dataOf } from '../../../cli/access/data.ts'
import manifest from '../../../package.json' with { type: 'json' }
import { type Program, startProgram } from '../../../test/support/docs/program.ts'
import { hasPostgres, startPostgres } from '../../../test/support/postgres.ts'
import { receiptQueue } from './plugins/receipts.ts'
import { makeServer } from './server.ts'

const ada = { authorization: 'Bearer ada' }
const grace = { authorization: 'Bearer grace' }
const kindred = { title: 'Kindred', author: 'Octavia E. Butler' }

let postgres: Awaited<ReturnType<typeof startPostgres>> | undefined
beforeAll(async () => {
  if (hasPostgres) postgres = await startPostgres()
})
afterAll(() => postgres?.stop())

describe.each(['SQLite', ...(hasPostgres ? ['Postgres'] : [])])('in process, on %s', (database) => {
  let server: ReturnType<typeof makeServer>
  beforeEach(async () => {
    if (database === 'Postgres') {
      const client = new pg.Client(postgres!.url)
      await client.connect()
      await client.query('drop schema public cascade; create schema public')
      await client.end()
    }
    server = makeServer({ log: false, ...(database === 'Postgres' && { database: postgres!.url }) })
  })
  afterEach(() => server.close())

  test('the books are in that database', async () => {
    await server.ready()
    const { system } = server.services.get('databases').client()
    expect(system).toBe(database === 'Postgres' ? 'postgresql' : 'sqlite')
  })

  test('the address of a borrower gets the receipt, and is marked wherever it flows', async () => {
    const body = { book: '1', email: 'grace@example.org' }
    ;(await server.inject.post('/loans', { body, headers: grace })).assertStatus(201)
    const bad = await server.inject.post('/loans', { body: { book: '1', email: 'grace@' }, headers: grace })
    expect(bad.assertStatus(422).text()).not.toContain('grace@')
    const marked = dataOf(server, () => {}).rows
    expect(marked.map(({ way, facts }) => `${way}: ${facts}`)).toEqual([
      'POST /loans body email: sensitive',
      'queue receipts message email: sensitive',
    ])
  })

  test('the front page leads on', async () => {
    const home = await server.inject.get('/')
    const paths: Record<string, string> = home.body()
    for (const path of Object.values(paths).filter((one) => !['/events', '/graphql'].includes(one))) {
      const res = await server.inject.get(path, { headers: ada })
      res.assertStatus(200)
    }
  })

  test('a browser gets the front page as a page with the same links', async () => {
    const page = await server.inject.get('/', { headers: { accept: 'text/html,*/*;q=0.8' } })
    page
      .assertStatus(200)
      .assertHeader('content-type', 'text/html; charset=utf-8')
      .assertHeader('vary', /accept/)
    const links = [...page.text().matchAll(/<li><a href="([^"]+)"/g)].map(([, path]) => path)
    expect(links).toEqual(['/docs', '/queues', '/crons', '/health/ready', '/app/', '/graphql'])
    const json = await server.inject.get('/', { headers: { accept: 'application/json' } })
    expect(Object.values(json.body<Record<string, string>>())).toEqual(expect.arrayContaining(links))
  })

  test('books are listed, by author too', async () => {
    const all = await server.inject.get('/books')
    all.assertStatus(200).assertHeader('content-type', 'application/json; charset=utf-8')
    expect(all.body()).toHaveLength(3)
    const some = await server.inject.get('/books', { query: { author: 'Italo Calvino' } })
    some.assertBodyDeepEqual([{ id: '3', title: 'Invisible Cities', author: 'Italo Calvino' }])
  })

  test('a book that is not there is a 404 with a reason of the application', async () => {
    const res = await server.inject.get('/books/99')
    res.assertStatus(404).assertBodyDeepEqual({ code: 'BookNotFoundError', message: 'there is no book 99' })
  })

  test('books are there by GraphQL too', async () => {
    const query = 'query ($id: ID!) { book(id: $id) { title available others { id } } books { id } }'
    const res = await server.inject.post('/graphql', { body: { query, variables: { id: '3' } } })
    const books = [{ id: '1' }, { id: '2' }, { id: '3' }]
    res.assertBodyDeepEqual({ data: { book: { title: 'Invisible Cities', available: true, others: [] }, books } })
  })

  test('only members add books', async () => {
    const refused = await server.inject.post('/books', { body: kindred })
    refused.assertStatus(401).assertHeader('www-authenticate', 'Bearer realm="library"')
    const added = await server.inject.post('/books', { body: kindred, headers: ada })
    const { id } = added.assertStatus(201).assertBodySubset(kindred).body<{ id: string }>()
    added.assertHeader('location', `/books/${id}`)
    const found = await server.inject.get(`/books/${id}`)
    found.assertStatus(200).assertBodySubset(kindred)
  })

  test('input that is not a book is a 422, and no JSON at all a 400', async () => {
    const incomplete = await server.inject.post('/books', { body: { title: ' ' }, headers: ada })
    incomplete.assertStatus(422).assertBodySubset({ code: 'ValidationError' })
    expect(incomplete.body<{ message: string }>().message).toContain('body/title must match pattern')
    expect(incomplete.body<{ message: string }>().message).toContain("must have required property 'author'")
    // Postgres has no text with a NUL.
    const control = await server.inject.post('/books', { body: { title: 'a\u0000', author: 'b' }, headers: ada })
    control.assertStatus(422)
    ;(await server.inject.get('/books', { query: { author: '\u0000' } })).assertStatus(422)
    ;(await server.inject.post('/loans', { body: { book: '\u0000' }, headers: ada })).assertStatus(422)
    const missing = await server.inject.post('/books', { headers: ada })
    missing.assertStatus(422).assertBodySubset({ message: 'body must have a body' })
    const negative = await server.inject.get('/books?limit=-1')
    negative.assertStatus(422).assertBodySubset({ message: 'query/limit must be >= 1' })
    const broken = await server.inject.post('/books', { body: '{"title":', headers: ada })
    broken.assertStatus(400).assertBodySubset({ code: 'JsonNotValidError' })
    const large = await server.inject.post('/books', { body: { title: 'x'.repeat(20_000) }, headers: ada })
    large.assertStatus(413).assertBodySubset({ code: 'PayloadTooLargeError' })
  })

  test('only librarians remove books, and none that is lent', async () => {
    ;(await server.inject.delete('/books/1')).assertStatus(401)
    ;(await server.inject.delete('/books/1', { headers: grace })).assertStatus(403)
    await server.inject.post('/loans', { body: { book: '1' }, headers: grace })
    ;(await server.inject.delete('/books/1', { headers: ada })).assertStatus(409)
    ;(await server.inject.delete('/books/2', { headers: ada })).assertStatus(204)
    ;(await server.inject.get('/books/2')).assertStatus(404)
  })

  test('answers are kept until something changes', async () => {
    for (const how of ['MISS', 'HIT']) (await server.inject.get('/books/1')).assertHeader('x-cache', how)
    ;(await server.inject.get('/books/1')).assertBodySubset({ available: true })
    await server.inject.post('/loans', { body: { book: '1' }, headers: ada })
    ;(await server.inject.get('/books/1')).assertHeader('x-cache', 'MISS').assertBodySubset({ available: false })
  })

  test('authors are counted', async () => {
    const authors = await server.inject.get('/authors')
    authors.assertStatus(200).assertBodyDeepEqual([
      { name: 'Ursula K. Le Guin', books: 2 },
      { name: 'Italo Calvino', books: 1 },
    ])
  })

  test('a cover is uploaded by members, and served as what it was allowed to be', async () => {
    const put = (type: string, headers: Record<string, string> = ada) => {
      const form = new FormData()
      form.append('cover', new Blob([new Uint8Array([137, 80, 78, 71])], { type }), '../../cover.png')
      return server.inject.put('/books/1/cover', { formData: form, headers })
    }
    ;(await server.inject.get('/books/1/cover')).assertStatus(404).assertBodySubset({ code: 'CoverNotFoundError' })
    ;(await put('image/png', {})).assertStatus(401)
    ;(await put('text/html')).assertStatus(415)
    ;(await put('image/png')).assertStatus(204).assertHeaderExists('ratelimit-remaining')
    const cover = await server.inject.get('/books/1/cover')
    cover.assertStatus(200).assertHeader('content-type', 'image/png').assertHeader('x-content-type-options', 'nosniff')
    expect([...cover.raw()]).toEqual([137, 80, 78, 71])
    expect(await server.services.get('storage').metadata('covers/1')).toMatchObject({
      contentType: 'image/png',
      size: 4,
    })
  })

  test('a visitor has a reading list, by the session', async () => {
    ;(await server.inject.get('/list')).assertStatus(200).assertBodyDeepEqual([]).assertCookieNotExists('sid')
    const added = await server.inject.put('/list/2')
    added.assertStatus(204).assertCookieExists('sid')
    const cookies = { sid: String(added.cookies().sid) }
    ;(await server.inject.get('/list', { cookies })).assertBodySubset([{ id: '2' }])
    ;(await server.inject.get('/list')).assertBodyDeepEqual([])
    const override = { cookies, headers: { 'x-http-method-override': 'DELETE' } }
    ;(await server.inject.post('/list/2', override)).assertStatus(204)
    ;(await server.inject.get('/list', { cookies })).assertBodyDeepEqual([])
  })

  test('the page, its parts and everything else carry the headers of helmet', async () => {
    const page = await server.inject.get('/app/')
    page.assertStatus(200).assertHeader('content-type', 'text/html; charset=utf-8')
    for (const path of ['/app/', '/app/library.js', '/books', '/nowhere']) {
      const res = await server.inject.get(path, { headers: { 'accept-encoding': 'br' } })
      res.assertHeader('x-content-type-options', 'nosniff').assertHeaderExists('content-security-policy')
    }
    const script = await server.inject.get('/app/library.js', { headers: { 'accept-encoding': 'br' } })
    script.assertHeader('content-encoding', 'br')
  })

  test('a book is lent to one member at a time', async () => {
    const lent = await server.inject.post('/loans', { body: { book: '1' }, headers: ada })
    lent.assertStatus(201).assertBodySubset({ book: '1' }).assertBodyNotSubset({ member: 'm1' })
    const again = await server.inject.post('/loans', { body: { book: '1' }, headers: grace })
    again.assertStatus(409).assertBodySubset({ code: 'BookLentError' })
    const { id } = lent.body() as { id: string }
    ;(await server.inject.delete(`/loans/${id}`, { headers: grace })).assertStatus(404)
    ;(await server.inject.delete(`/loans/${id}`, { headers: ada })).assertStatus(204)
    ;(await server.inject.get('/loans', { headers: ada })).assertBodyDeepEqual([])
    ;(await server.inject.post('/loans', { body: { book: '1' }, headers: grace })).assertStatus(201)
  })

  test('of two members who borrow a book at the same time, one gets it', async () => {
    for (let round = 0; round < 5; round++) {
      const both = [ada, grace].map((headers) => server.inject.post('/loans', { body: { book: '1' }, headers }))
      const responses = await Promise.all(both)
      expect(responses.map((res) => res.statusCode()).sort()).toEqual([201, 409])
      const at = responses.findIndex((res) => res.statusCode() === 201)
      const { id } = responses[at]!.body<{ id: string }>()
      ;(await server.inject.delete(`/loans/${id}`, { headers: [ada, grace][at]! })).assertStatus(204)
    }
  })

  test('of a member who borrows a book and a librarian who removes it at the same time, one succeeds', async () => {
    const outcomes = new Set<string>()
    for (let round = 0; round < 5; round++) {
      const added = await server.inject.post('/books', { body: kindred, headers: ada })
      const { id: book } = added.body<{ id: string }>()
      const responses = await Promise.all([
        server.inject.post('/loans', { body: { book }, headers: grace }),
        server.inject.delete(`/books/${book}`, { headers: ada }),
      ])
      outcomes.add(responses.map((res) => res.statusCode()).join())
    }
    expect(['201,409', '404,204']).toEqual(expect.arrayContaining([...outcomes]))
  })

  test('loans are for members', async () => {
    for (const method of ['GET', 'POST'] as const) {
      const res = await server.inject.request(method, '/loans')
      res.assertStatus(401)
    }
  })

  test('an unexpected error shows the client no details', async () => {
    server.get('/broken', () => {
      throw new Error('the password is swordfish')
    })
    const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    const res = await server.inject.get('/broken')
    expect(written.mock.calls.join()).toContain('swordfish')
    written.mockRestore()
    res.assertStatus(500).assertBodySubset({ code: 'INTERNAL_ERROR', message: 'that should not have happened' })
    expect(JSON.stringify(res.body())).not.toContain('swordfish')
  })

  test('a loan leaves a receipt to the workers, which start when the server listens', async () => {
    ;(await server.inject.post('/loans', { body: { book: '2' }, headers: grace })).assertStatus(201)
    expect(await receiptQueue.counts()).toMatchObject({ waiting: 1, active: 0 })
  })

  test('a book that lies in the returns box is taken back, and the sign above it says so', async () => {
    const lent = await server.inject.post('/loans', { body: { book: '2' }, headers: grace })
    const { id: loan } = lent.body<{ id: string }>()
    const broker = server.services.get('mqtt')
    // Listening would do this.
    await broker.start()
    const news: unknown[] = []
    await broker.subscribe('library/news', (message) => void news.push(message), { qos: 1 })
    await broker.publish('library/returns-box', { loan, member: 'm2' }, { qos: 1 })
    await expect.poll(() => news).toMatchObject([{ kind: 'returned' }])
    ;(await server.inject.get('/loans', { headers: grace })).assertBodyDeepEqual([])
  })

  test('librarians see the scheduled jobs', async () => {
    const asked = await server.inject.get('/crons')
    asked.assertStatus(401).assertHeader('www-authenticate', 'Basic realm="library", charset="UTF-8"')
    const basic = (text: string) => ({ headers: { authorization: `Basic ${Buffer.from(text).toString('base64')}` } })
    ;(await server.inject.get('/crons', basic('ada:'))).assertStatus(401)
    ;(await server.inject.get('/crons', { headers: grace })).assertStatus(403)
    ;(await server.inject.get('/crons', basic('grace:grace'))).assertStatus(403)
    ;(await server.inject.get('/crons', basic('ada:ada'))).assertStatus(200)
    ;(await server.inject.get('/crons', { headers: ada })).assertStatus(200)
    // The password is accepted for pages only: a browser sends it by itself, wherever a request comes from.
    ;(await server.inject.delete('/books/1', basic('ada:ada'))).assertStatus(401)
  })

  test('what is built in: 404, 405, probes and cross-origin headers', async () => {
    const missing = await server.inject.get('/nowhere')
    missing.assertStatus(404).assertBodyDeepEqual({
      code: 'RouteNotFoundError',
      message: 'ROUTE_NOT_FOUND: Cannot GET /nowhere',
    })
    const wrong = await server.inject.put('/books')
    wrong.assertStatus(405).assertHeader('allow', 'GET, POST').assertHeader('access-control-allow-origin', '*')
    ;(await server.inject.get('/health/live')).assertStatus(200)
    ;(await server.inject.get('/health/ready')).assertStatus(200)
  })
})

test('the library outlives the server when it has a file', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'framework-demo-'))
  const database = `sqlite:${join(folder, 'library.sqlite')}`
  try {
    const first = makeServer({ log: false, database })
    const added = await first.inject.post('/books', { body: kindred, headers: ada })
    await first.close()
    const second = makeServer({ log: false, database })
    const res = await second.inject.get(String(added.headers().location))
    res.assertStatus(200).assertBodySubset(kindred)
    expect((await second.inject.get('/books')).body()).toHaveLength(4)
    await second.close()
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})

describe('as a process, started as npm start does', () => {
  let program: Program
  beforeAll(async () => {
    const [node, ...args] = manifest.scripts.start.split('&&').at(-1)!.trim().split(' ')
    expect(node).toBe('node')
    program = await startProgram(args)
  })
  afterAll(() => {
    program?.child.kill('SIGKILL')
  })

  test('it prints the address of the inspector first, then its pages and what to try', async () => {
    await expect.poll(program.output).toContain('Ctrl-C stops it.')
    const links = program.output().match(/http:\S+/g)!
    expect(links.slice(0, 2)).toEqual([program.url, expect.stringContaining(`${program.url}/_inspector?token=`)])
    const pages = ['/', '/app/', '/docs', '/graphql', '/queues', '/crons'].map((path) => program.url + path)
    expect(links).toEqual(expect.arrayContaining(pages))
    expect(program.output()).toContain(`curl ${program.url}/books\n`)
    // Another version would have loaded its own copy of the framework, from the sources.
    expect(program.output()).not.toMatch(/Warning|did not start|no server of/)
  })

  test('the first page of a browser links the inspector', async () => {
    const page = await (await fetch(program.url, { headers: { accept: 'text/html' } })).text()
    expect(page).toContain('<a href="/_inspector">')
    expect(page).toContain(`${program.url}/loans`)
  })

  test('the inspector has a panel of the queues, and the log is for people', async () => {
    const inspector = /http:\S+token=\S+/.exec(program.output())![0]
    const cookie = (await fetch(inspector, { redirect: 'manual' })).headers.get('set-cookie')!.split(';')[0]!
    const overview = await fetch(`${program.url}/_inspector/api/overview`, { headers: { cookie } })
    const { panels } = (await overview.json()) as { panels: { key: string }[] }
    expect(panels).toContainEqual(expect.objectContaining({ key: 'queues.0' }))
    await fetch(`${program.url}/books/2`)
    await expect.poll(program.output).toMatch(/^\d\d:\d\d:\d\d.*GET +\/books\/2 200/m)
  })

  test('JSON', async () => {
    const res = await fetch(`${program.url}/books/1`)
    expect(res.status).toBe(200)
    expect(await res.json()).toEqual({
      id: '1',
      title: 'The Dispossessed',
      author: 'Ursula K. Le Guin',
      available: true,
    })
  })

  test('404, 405 with Allow, 400 for broken JSON, 401', async () => {
    const missing = await fetch(`${program.url}/nowhere`)
    expect([missing.status, await missing.json()]).toMatchObject([404, { code: 'RouteNotFoundError' }])
    const wrong = await fetch(`${program.url}/books`, { method: 'PUT' })
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'GET, POST'])
    expect(await wrong.json()).toMatchObject({ code: 'MethodNotAllowedError' })
    const post = (body: string, headers: object) =>
      fetch(`${program.url}/books`, {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json', ...headers },
      })
    const broken = await post('{"title":', ada)
    expect([broken.status, await broken.json()]).toMatchObject([400, { code: 'JsonNotValidError' }])
    expect((await post('{}', {})).status).toBe(401)
    expect((await post(JSON.stringify(kindred), ada)).status).toBe(201)
  })

  test('nonsense instead of HTTP is a 400', async () => {
    const { port } = new URL(program.url)
    const socket = connect(Number(port), '127.0.0.1', () => socket.write('hello?\r\n\r\n'))
    let answer = ''
    for await (const chunk of socket) answer += String(chunk)
    expect(answer).toMatch(/^HTTP\/1\.1 400 /)
  })

  test('events arrive while they happen, and SIGTERM ends stream and process with 0', async () => {
    const stream = await fetch(`${program.url}/events`)
    expect(stream.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    let text = ''
    const reading = (async () => {
      for await (const chunk of stream.body!) text += new TextDecoder().decode(chunk)
    })()
    await expect.poll(() => text).toContain('event: hello')
    await fetch(`${program.url}/loans`, {
      method: 'POST',
      body: '{"book":"2"}',
      headers: { 'content-type': 'application/json', ...grace },
    })
    await expect.poll(() => text).toContain('event: lent')
    expect(await program.end('SIGTERM')).toEqual({ code: 0, signal: null })
    await reading
    await expect(fetch(`${program.url}/books`)).rejects.toThrow()
  })
})

// demo.long.test.ts has Bun and Deno; whole.test.ts runs the whole library on them.
