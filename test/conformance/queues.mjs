import { bullmqQueue, memoryQueue, pgbossQueue, RouteCollection, Server, sqsQueue } from 'framework'

/** Queues are declared for the whole process. */
export const isAlone = true

/**
 * Queues of every kind on whichever runtime runs this. Returns what it saw.
 *
 * @param {string} [suffix] Of the names of the queues.
 * @param {string} [redis]
 * @param {string} [postgres]
 * @param {string} [sqs] Where the emulator is.
 */
export async function run(suffix, redis, postgres, sqs) {
  const quiet = () => {}
  /** @type {any} */
  const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet, child: () => logger }

  /** @type {Record<string, [queue: any, twice: object]>} */
  const kinds = {
    memory: [memoryQueue(`conformance-${suffix}`), { attempts: 2 }],
    bullmq: [bullmqQueue(`conformance-${suffix}`), { attempts: 2 }],
    pgboss: [pgbossQueue(`conformance-${suffix}`), { retryLimit: 1 }],
    sqs: [sqsQueue(`conformance-${suffix}`), {}],
  }
  const credentials = { accessKeyId: 'test', secretAccessKey: 'test' }
  const server = new Server({
    port: 0,
    host: '127.0.0.1',
    drainWindow: 0,
    logger,
    router: new RouteCollection(),
    background: {
      queues: {
        config: {
          memory: {},
          bullmq: { connection: redis },
          pgboss: { connectionString: postgres, schema: `s${suffix}`, pollInterval: 100 },
          sqs: { region: 'us-east-1', endpoint: sqs, credentials, waitTimeSeconds: 1 },
        },
        run: true,
      },
    },
  })

  /** @param {() => boolean} holds */
  async function until(holds) {
    const giveUpAt = performance.now() + 60_000
    while (!holds() && performance.now() < giveUpAt) await new Promise((resolve) => setTimeout(resolve, 10))
  }

  /** @type {Record<string, any>} */
  const seen = {}
  /** @type {Record<string, any>} */
  const handles = {}
  for (const [kind, [queue]] of Object.entries(kinds)) {
    /** @type {any} */
    const mine = { attempts: [], payloads: [], ids: true, errors: [], left: {} }
    seen[kind] = mine
    /** @param {any} payload @param {any} message */
    const handler = async (payload, message) => {
      if (!payload.fails) return void mine.payloads.push(payload)
      mine.attempts.push(message.attempt)
      if (message.attempt === 1) throw new Error('once')
    }
    handles[kind] = await queue.subscribe(handler, { concurrency: 2 })
  }
  await server.listen()

  for (const [kind, [queue, twice]] of Object.entries(kinds)) {
    const mine = seen[kind]
    const published = [await queue.publish({ fails: true }, twice)]
    published.push(...(await queue.publishMany([{ ü: '🎈', deep: [{ a: null }] }, { n: 2 }, { n: 3 }])))
    mine.ids = published.every(({ id }) => typeof id === 'string' && id !== '')
    await queue.publish(1n).catch((/** @type {any} */ error) => mine.errors.push(error.code))
    await until(() => mine.attempts.length === 2 && mine.payloads.length === 3)
    mine.payloads.sort((/** @type {any} */ a, /** @type {any} */ b) => (a.n ?? 0) - (b.n ?? 0))
  }
  await server.services.queues?.health()
  for (const [kind, [queue]] of Object.entries(kinds)) {
    await handles[kind].unsubscribe()
    await queue.publish({ n: 4 })
    await new Promise((resolve) => setTimeout(resolve, 50))
    // The counts of a service may be outdated for a while.
    for (let more = 600; more > 0; more--) {
      const { waiting, delayed, failed } = await queue.counts()
      seen[kind].left = { waiting, delayed, failed }
      if (waiting === 1) break
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
  await server.close()
  return seen
}
