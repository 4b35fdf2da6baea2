import { RouteCollection, Server } from 'framework'

/** Sends what a schema marks, on whichever runtime runs this. Returns the status, the number of lines that have it, and one with the mark's text. */
export async function run() {
  /** @type {string[]} */
  const lines = []
  const mail = 'canary@example.org'
  const router = new RouteCollection()
  const body = /** @type {const} */ ({
    type: 'object',
    properties: { canaryMail: { type: 'string', sensitive: true } },
  })
  router.post('/people', { body }, async (req) => {
    await new Promise((resolve) => setTimeout(resolve, 1))
    req.log.info({ canaryMail: mail, other: [mail] }, `greets ${mail}`)
    throw new Error(`there is ${mail}`)
  })
  const log = { stream: { write: (/** @type {string} */ line) => void lines.push(line) } }
  const server = new Server({ router, port: 0, host: '127.0.0.1', gracefulShutdown: false, plugins: { log } })
  await server.listen()
  try {
    const request = { method: 'POST', headers: { 'content-type': 'application/json' } }
    const sent = await fetch(`${server.url}/people`, { ...request, body: JSON.stringify({ canaryMail: mail }) })
    await sent.text()
    const greeting = JSON.parse(lines.find((line) => line.includes('greets')) ?? '{}')
    return {
      status: sent.status,
      leaks: lines.filter((line) => line.includes('canary@')).length,
      greeting: [greeting.msg, greeting.canaryMail, greeting.other],
    }
  } finally {
    await server.close()
  }
}
