import process from 'node:process'
import { router, Server } from 'framework'

// Controllers of each pattern, one after the other: prints what each of them led to. Those of the pattern before are forgotten.
const warnings = []
process.on('warning', ({ name, code }) => name === 'DeprecationWarning' && warnings.push(code))

async function resultOf(pattern) {
  const log = { debug() {}, info() {}, warn: (_fields, message) => logged.push(message), error() {}, child: () => log }
  const logged = []
  const answers = []
  const options = { port: 0, host: '127.0.0.1', drainWindow: 0, controllerPatterns: [pattern], logger: log }

  async function ask(url, path, { key, body, method = body === undefined ? 'GET' : 'POST' } = {}) {
    const headers = { ...(key && { 'x-key': key }), ...(body && { 'content-type': 'application/json' }) }
    const res = await fetch(url + path, { method, headers, body: body && JSON.stringify(body) })
    answers.push([res.status, await res.text(), res.headers.get('x-trace')])
  }

  try {
    const first = new Server(options)
    await first.listen()
    for (const [path, request] of [
      ['/books'],
      ['/books', { key: 'member' }],
      ['/books/1', { key: 'member' }],
      ['/books/9', { key: 'member' }],
      ['/books/broken', { key: 'member' }],
      ['/books', { key: 'member', body: { title: 'Dawn' } }],
      ['/books', { key: 'staff', body: {} }],
      ['/books', { key: 'staff', body: { title: 'Dawn' } }],
    ]) {
      await ask(first.url, path, request)
    }
    const steps = first.explain('POST', '/books').steps.map(({ slot, name }) => `${slot} ${name}`)
    await first.close()

    router.clearRoutes()
    const second = new Server({ logger: log })
    const res = await second
      .getMockServer({ controllerPatterns: [pattern] })
      .get('/books', { headers: { 'x-key': 'staff' } })
    await second.close()
    return { answers, steps, logged, again: res.body().length }
  } catch (error) {
    return { failed: error.message, cause: error.cause?.cause?.name }
  } finally {
    router.clearRoutes()
  }
}

const results = []
for (const pattern of process.argv.slice(2)) results.push(await resultOf(pattern))
// Warnings come a moment later.
await new Promise((resolve) => setTimeout(resolve, 10))
console.log(JSON.stringify({ results, warnings }))
process.exit(0)
