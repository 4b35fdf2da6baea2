import { setImmediate as macrotask } from 'node:timers/promises'
import { order, receipt } from '../load/suites.ts'
import type { Built } from './built.ts'
import type { MicroCase } from './harness.ts'

const payload = JSON.stringify(order)
const headers = { 'content-type': 'application/json' }
const greeting = JSON.stringify({ hello: 'world' })
const expected = JSON.stringify(receipt)

const answerTo = (body: unknown) => {
  const { id, lines } = body as typeof order
  return { id, lines: lines.length, total: lines.reduce((sum, line) => sum + line.price * line.quantity, 0) }
}

function must(text: string, wanted: string): void {
  if (text !== wanted) throw new Error(`the response is ${text.slice(0, 200)}, not ${wanted}`)
}

/**
 * Lets the event loop turn now and then: fastify.inject leaves work for it, and in one long chain of promises, that work
 * piles up until a request costs 150 µs instead of 50.
 */
const breathe = (i: number) => (i % 64 === 0 ? macrotask() : undefined)

/** Sends requests without a socket, one after the other, and reads the body as text, as a test suite or a cold start does. */
export async function injectCases(built: Built): Promise<MicroCase[]> {
  const { RouteCollection, Server } = await built.door()
  const server = new Server({ router: new RouteCollection() })
  server.get('/', () => ({ hello: 'world' }))
  server.post('/orders', (req) => answerTo(req.body))
  await server.ready()
  const decoder = new TextDecoder()
  const peers = await built.injectPeers({ hello: () => ({ hello: 'world' }), receipt: answerTo, payload })
  // One loop for all of them: compared with their cost, a polymorphic call is negligible.
  const peer = (group: string, name: string, ask: () => Promise<string>, wanted: string): MicroCase => ({
    group,
    name,
    async run(times) {
      for (let i = 0; i < times; i++) {
        await breathe(i)
        must(await ask(), wanted)
      }
    },
  })
  return [
    ...peers.map(({ name, get }) => peer('GET hello', name, get, greeting)),
    {
      group: 'GET hello',
      name: 'framework',
      async run(times) {
        for (let i = 0; i < times; i++) {
          await breathe(i)
          const { body } = await server.inject({ method: 'GET', url: '/' })
          must(decoder.decode(body), greeting)
        }
      },
    },
    ...peers.map(({ name, post }) => peer('POST 1 KB', name, post, expected)),
    {
      group: 'POST 1 KB',
      name: 'framework',
      async run(times) {
        for (let i = 0; i < times; i++) {
          await breathe(i)
          const { body } = await server.inject({ method: 'POST', url: '/orders', headers, body: payload })
          must(decoder.decode(body), expected)
        }
      },
    },
  ]
}
