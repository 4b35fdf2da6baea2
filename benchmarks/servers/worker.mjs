import { Server } from 'framework'

const server = new Server({ port: Number(process.env.PORT), host: '127.0.0.1' })
/** @type {Record<string, () => unknown>} */
const handlers = {
  hello: () => ({ hello: 'world' }),
  /** A millisecond of processor time: templates, a password, numbers. */
  work() {
    const end = performance.now() + 1
    while (performance.now() < end);
    return { done: true }
  },
}
const handler = handlers[process.env.BENCH_SCENARIO ?? '']
if (handler === undefined) throw new Error('BENCH_SCENARIO names no scenario')
server.get('/', handler)
await server.listen()
