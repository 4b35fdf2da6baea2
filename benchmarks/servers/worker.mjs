import { pbkdf2Sync } from 'node:crypto'
import { Server } from 'framework'

const server = new Server({ port: Number(process.env.PORT), host: '127.0.0.1' })
/** @type {Record<string, () => unknown>} */
const handlers = {
  hello: () => ({ hello: 'world' }),
  /** About a millisecond of processor time: always the same work, however long it takes. */
  work() {
    pbkdf2Sync('password', 'salt', 6000, 32, 'sha256')
    return { done: true }
  },
}
const handler = handlers[process.env.BENCH_SCENARIO ?? '']
if (handler === undefined) throw new Error('BENCH_SCENARIO names no scenario')
server.get('/', handler)
await server.listen()
