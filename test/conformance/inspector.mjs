import { request } from 'node:http'
import { memoryQueue, QueueService, RouteCollection, Server } from 'framework'

/** Queues are declared for the whole process. */
export const isAlone = true

/** The inspector on whichever runtime runs this, over a socket. Returns what it saw. */
export async function run() {
  const quiet = () => {}
  /** @type {any} */
  const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet, child: () => logger }
  const orders = memoryQueue('inspected')
  /** @type {(() => void)[]} */
  const waiting = []
  const handle = await orders.subscribe(() => void waiting.shift()?.())
  const ofRuntime = globalThis.fetch
  const server = new Server({
    port: 0,
    host: '127.0.0.1',
    drainWindow: 0,
    logger,
    router: new RouteCollection(),
    plugins: { inspector: true, helmet: true, queues: { run: true } },
  })
  server.get('/books/:id', (req) => ({ id: req.params.id }))
  server.get('/ask', async () => {
    const address = `http://127.0.0.1:${server.port}/books`
    await (await fetch(`${address}/1?token=hidden`)).text()
    await new Promise((resolve) =>
      request(`${address}/2`, { agent: false }, (res) => res.on('end', resolve).resume()).end(),
    )
    return 'asked'
  })
  let calls = 0
  server.post('/orders', async (req) => {
    req.log.info({ token: 'hidden' }, 'ordering')
    const done = new Promise((resolve) => waiting.push(() => resolve(undefined)))
    await orders.publish({ book: 1 })
    await done
    throw new Error(`call ${++calls} of ${/** @type {any} */ (req.body).title}`)
  })
  await server.listen()

  /** @returns {Promise<{ status: number, headers: Record<string, any>, text: string }>} */
  const ask = (/** @type {string} */ path, /** @type {any} */ { body, ...options } = {}) =>
    new Promise((resolve, reject) => {
      const client = request({ port: server.port, host: '127.0.0.1', path, agent: false, ...options }, (res) => {
        let text = ''
        const done = () => resolve({ status: res.statusCode ?? 0, headers: res.headers, text })
        res.on('data', (chunk) => {
          text += chunk
          // A stream has no end.
          if (/event: changed/.test(text)) {
            done()
            client.destroy()
          }
        })
        res.on('end', done)
      })
      client.on('error', reject)
      client.end(body)
    })

  /** @type {any} */
  const pages = server
  const [{ path }] = pages[Symbol.for('framework.pages')]
  const cookie = String((await ask(path)).headers['set-cookie']).split(';')[0]
  const json = async (/** @type {string} */ what, /** @type {any} */ body = undefined) => {
    const headers = { cookie, 'sec-fetch-site': 'same-origin' }
    const more = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
    return JSON.parse((await ask(`/_inspector/api/${what}`, { headers, ...more })).text)
  }
  const live = ask('/_inspector/events', { headers: { cookie } })
  const order = {
    method: 'POST',
    body: JSON.stringify({ title: 'Dune', password: 'hidden' }),
    headers: { 'content-type': 'application/json', authorization: 'Bearer hidden' },
  }
  await ask('/orders', order)
  const [{ id }] = await json('list?kind=request')
  const first = await json(`activity?id=${id}`)
  const again = await json('replay', { id })
  const second = await json(`activity?id=${again.id}`)
  const refused = [
    await ask('/_inspector/api/list?kind=request'),
    await ask(path, { headers: { 'x-forwarded-for': '127.0.0.1' } }),
    await ask(path, { headers: { host: 'evil.example' } }),
  ]
  const global = globalThis.fetch
  await ask('/ask')
  const [asking] = (await json('list?kind=request')).filter((/** @type {any} */ one) => one.title === 'GET /ask')
  // The end of a connection may be reported after the response.
  const outgoing = async () => {
    const list = await json('list?kind=outgoing')
    return list.some((/** @type {any} */ one) => one.outcome === 'running') ? outgoing() : list
  }
  const sent = (await outgoing()).filter((/** @type {any} */ one) => one.parent === asking.id)
  const panel = await json('panel?key=queues.0')
  const result = {
    refused: refused.map(({ status }) => status),
    error: [first.error.message, second.error.message],
    kinds: first.related.map((/** @type {any} */ one) => one.kind),
    steps: first.related[0].marks.map((/** @type {any} */ mark) => mark.name),
    body: JSON.parse(first.http.request.body.text),
    status: first.http.response.status,
    shows: JSON.stringify([first, second]).includes('hidden'),
    live: /event: changed\ndata: \[/.test((await live).text),
    outgoing: sent
      .map((/** @type {any} */ one) => `${one.title.replace(/127.*?[/]/, '/')} ${one.note} ${one.outcome}`)
      .reverse(),
    panel: panel.rows.some((/** @type {any} */ row) => row.cells[0] === 'inspected'),
  }
  await handle.unsubscribe()
  await QueueService.stop()
  const inspected = async () => {
    const other = new Server({ router: new RouteCollection(), plugins: { inspector: true } })
    await other.ready()
    return other
  }
  const other = await inspected()
  await server.close()
  await other.close()
  // Where the inspector replaces it, it is that of the runtime again, in whichever order servers close.
  const isRestored = globalThis.fetch === ofRuntime
  // A double of a test returns what it likes, and fails no one.
  const odd = /** @type {any} */ ({})
  globalThis.fetch = /** @type {any} */ (() => odd)
  const third = await inspected()
  const isOdd =
    (await fetch('http://127.0.0.1/', { method: /** @type {any} */ (7) })) === odd &&
    (await fetch('http://127.0.0.1/')) === odd
  await new Promise((resolve) => setImmediate(resolve))
  await third.close()
  globalThis.fetch = ofRuntime
  return { ...result, isWrapped: global !== ofRuntime, isRestored, isOdd }
}
