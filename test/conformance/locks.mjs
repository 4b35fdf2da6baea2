import { RouteCollection, Server } from 'framework'

/**
 * Locks in each store, and data of the cache, on whichever runtime runs this. Returns what it saw.
 *
 * @param {string} [suffix] Of the names of the locks.
 * @param {string} [redis]
 * @param {string} [postgres]
 */
export async function run(suffix, redis = '', postgres = '') {
  const quiet = () => {}
  /** @type {any} */
  const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet, child: () => logger }
  /** @param {any} plugins */
  const serve = async (plugins) => {
    const server = new Server({ logger, router: new RouteCollection(), gracefulShutdown: false, plugins })
    await server.ready()
    return /** @type {any} */ (server)
  }
  /** @param {number} ms */
  const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

  /** @type {Record<string, any>} */
  const seen = {}
  for (const [name, store] of Object.entries({ memory: 'memory', redis: { redis }, postgres: { postgres } })) {
    const server = await serve({ locks: { store } })
    const locks = server.services.get('locks')
    /** @type {number[]} */
    const fences = []
    let inside = 0
    let most = 0
    /** @param {{ fence: number }} held */
    const work = async ({ fence }) => {
      most = Math.max(most, ++inside)
      fences.push(fence)
      await pause(5)
      inside--
    }
    const asked = Array.from({ length: 5 }, () => locks.withLock(`a ${suffix}`, { wait: 20_000 }, work))
    await Promise.all(asked)
    /** @type {(value?: unknown) => void} */
    let end = quiet
    /** @type {Promise<unknown> | undefined} */
    let held
    await new Promise((resolve) => {
      held = locks.withLock(`b ${suffix}`, {}, () => {
        resolve(undefined)
        return new Promise((over) => {
          end = over
        })
      })
    })
    const refused = await locks.withLock(`b ${suffix}`, {}, quiet).catch((/** @type {any} */ error) => error.status)
    end()
    await held
    await locks.check()
    const rise = fences.every((fence, i) => i === 0 || fence > (fences[i - 1] ?? 0))
    seen[name] = { most, count: fences.length, rise, refused }
    await server.close()
  }

  const settings = { memory: {}, redis: { provider: 'redis', redis: { url: redis, timeout: 2_000 } } }
  for (const [name, cache] of Object.entries(settings)) {
    const server = await serve({ cache })
    const service = server.services.get('cache')
    let runs = 0
    const compute = async () => {
      await pause(20)
      return { runs: ++runs, text: 'ü🎈' }
    }
    const get = () => service.getOrSet(`data ${suffix}`, { ttl: 60 }, compute)
    const results = await Promise.all([get(), get(), get()])
    const removed = [await service.delete(`data ${suffix}`), await service.delete(`data ${suffix}`)]
    const { text } = await get()
    seen[`data in ${name}`] = { results: results.map((one) => one.runs), text, removed, runs }
    await server.close()
  }
  return seen
}
