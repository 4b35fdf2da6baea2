import { type Middleware, memoryQueue, type QueueConfig, type QueueUiOptions, RouteCollection, Server } from 'framework'
import { memoryLogger } from '../../support/kernel.ts'
import { freshName, until } from '../../support/queues.ts'

export const nasty = `<script>alert(1)</script>"'&<b onmouseover=x>`

/** Anyone with this header is staff. */
export const staffOnly: Middleware = function staffOnly(req, res, next) {
  return req.headers.authorization === 'Bearer staff' ? next() : res.unauthorized()
}

export const staff = { authorization: 'Bearer staff' }
const form = { 'content-type': 'application/x-www-form-urlencoded' }
export const fromPage = { ...form, 'sec-fetch-site': 'same-origin' }

/** A server with the page, which listens so that its subscribers run. */
export async function serve(ui: boolean | QueueUiOptions, more: { config?: QueueConfig; plugins?: object } = {}) {
  const logger = memoryLogger()
  const server = new Server({
    ...{ port: 0, host: '127.0.0.1', gracefulShutdown: false, drainWindow: 0, closeTimeout: 600 },
    ...{ router: new RouteCollection(), logger, plugins: more.plugins ?? {} },
    background: { queues: { ui, run: true, ...(more.config && { config: more.config }) } },
  } as object) as unknown as Server
  await server.listen()
  const log = logger.entries
  /** Sends a form as the page would. */
  const click = (query: object, fields: readonly (readonly [string, string])[], headers: object = {}) =>
    server.inject.post(`/queues?${new URLSearchParams(query as Record<string, string>)}`, {
      headers: { ...fromPage, ...headers } as Record<string, string>,
      body: String(new URLSearchParams(fields.map((pair) => [...pair]))),
    } as object)
  const get = async (query: object = {}, headers: object = {}) => {
    const address = `/queues?${new URLSearchParams(query as Record<string, string>)}`
    return server.inject.get(address, { headers: headers as Record<string, string> })
  }
  return { server, log, click, get }
}

/** A queue in memory whose messages fail, unless they are `ok`. */
export async function failing(server: Server, payloads: readonly unknown[], error: (payload: unknown) => Error) {
  const queue = memoryQueue<unknown>(freshName('orders'))
  const handled: unknown[] = []
  let isMended = false
  await queue.subscribe((payload) => {
    if (!isMended) throw error(payload)
    handled.push(payload)
  })
  const own = queue.for(server)
  for (const payload of payloads) await own.publish(payload)
  await until(async () => (await own.counts()).failed === payloads.length, 'all have failed')
  const operator = server.services.get('queues').of(queue.name)
  const mend = () => {
    isMended = true
  }
  return { queue: own, name: queue.name, handled, operator, mend }
}
