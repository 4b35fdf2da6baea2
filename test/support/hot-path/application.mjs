import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { Server } from 'framework'
import {
  account,
  accountSchema,
  hello,
  orderSchema,
  receipt,
  receiptSchema,
  userParams,
  userQuery,
} from '../../../benchmarks/servers/routes.mjs'

/** @typedef {{ method: string, url: string, headers: Record<string, string>, body?: string }} Scenario */

/** The request and the response that a handler was given last. @type {{ req: any, res: any }} */
export const latest = { req: undefined, res: undefined }

/** @param {(req: any) => unknown} handler */
const shown = (handler) => (/** @type {any} */ req, /** @type {any} */ res) => {
  latest.req = req
  latest.res = res
  return handler(req)
}

/** A function of its own for each, as an application has them. */
const step = () => (/** @type {unknown} */ _req, /** @type {unknown} */ _res, /** @type {() => void} */ next) => next()

const server = new Server({ port: 0, host: '127.0.0.1' })
const later = async () => {
  await undefined
  return hello()
}
const user = (/** @type {any} */ req) => account(req.params.id, req.query)
const order = (/** @type {any} */ req) => receipt(req.body)
server.get('/', shown(hello))
server.get('/later', shown(later))
server.get('/users/:id', { params: userParams, query: userQuery, responses: { 200: accountSchema } }, shown(user))
server.post('/orders', { body: orderSchema, responses: { 200: receiptSchema } }, shown(order))
server.get('/after-four', [step(), step(), step(), step()], shown(hello))

/**
 * Starts the application, and a client in a thread of its own: what it allocates is on another heap.
 *
 * @param {number} connections
 */
export async function start(connections) {
  const { port } = await server.listen()
  const client = new Worker(new URL('client.mjs', import.meta.url), { workerData: { port, connections } })
  await once(client, 'message')
  return {
    ways: {
      /** Asks so many times, one after the other. @param {Scenario} scenario @param {number} times */
      async inject(scenario, times) {
        for (let i = 0; i < times; i++) {
          const { status } = await server.inject(scenario)
          if (status !== 200) throw new Error(`${scenario.url} was answered with ${status}`)
        }
      },
      /** The same over loopback, on all connections. @param {Scenario} scenario @param {number} times */
      async socket(scenario, times) {
        client.postMessage({ text: asText(scenario), times })
        await once(client, 'message')
      },
    },
    async stop() {
      await client.terminate()
      await server.close()
    },
  }
}

/** @param {Scenario} scenario */
function asText({ method, url, headers, body = '' }) {
  const length = body === '' ? {} : { 'content-length': Buffer.byteLength(body) }
  const lines = Object.entries({ host: 'localhost', ...headers, ...length }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  )
  return `${method} ${url} HTTP/1.1\r\n${lines.join('')}\r\n${body}`
}
