import process from 'node:process'
import { RouteCollection, Server } from 'framework'

// One process of the contest. Arguments: the store, as JSON, and a seed. It takes the lock again and again, asks its parent to write with the
// fence, and does not care whether the lock was lost: only the fence protects what it writes to.
const [, , store = '"memory"', seed = '1'] = process.argv

let state = Number(seed)
/** @param {number} limit */
function below(limit) {
  state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
  return state % limit
}
/** @param {number} ms */
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

/** @type {Map<number, (accepted: boolean) => void>} */
const asked = new Map()
let last = 0
process.on('message', (/** @type {{ id: number, accepted: boolean }} */ { id, accepted }) => {
  asked.get(id)?.(accepted)
  asked.delete(id)
})
process.on('disconnect', () => process.exit())
/** @param {string} what @param {number} fence @returns {Promise<boolean>} */
function ask(what, fence) {
  const id = ++last
  return new Promise((resolve) => {
    asked.set(id, resolve)
    process.send?.({ id, what, fence })
  })
}

const quiet = () => {}
/** @type {any} */
const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet, child: () => logger }
const server = new Server({
  router: new RouteCollection(),
  logger,
  gracefulShutdown: false,
  plugins: { locks: { store: JSON.parse(store) } },
})
await server.ready()
const locks = server.services.get('locks')

for (;;) {
  let held = 0
  try {
    await locks.withLock('guarded', { ttl: 1_000, wait: 10_000 }, async ({ fence }) => {
      held = fence
      await ask('enter', fence)
      for (let writes = 1 + below(4); writes > 0; writes--) {
        await pause(below(40))
        await ask('write', fence)
      }
      await ask('leave', fence)
    })
  } catch (error) {
    const { code, message } = /** @type {any} */ (error)
    if (code === 'LockLostError') await ask('lost', held)
    else if (code === 'LockStoreError') await ask('unanswered', held)
    else if (code !== 'LockHeldError') process.send?.({ id: 0, what: message, fence: held })
  }
  if (below(3) === 0) await pause(below(30))
}
