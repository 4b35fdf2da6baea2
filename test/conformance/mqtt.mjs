import process from 'node:process'
import { setTimeout as pause } from 'node:timers/promises'
import { MqttService, mqtt, RouteCollection, Server } from 'framework'

/** Topics are declared for the whole process. */
export const isAlone = true
let runs = 0

/**
 * MQTT on whichever runtime runs this. Returns what it saw.
 *
 * @param {string} [adapter]
 * @param {string} [given] How the broker is reached, as JSON.
 */
export async function run(adapter, given) {
  const connect = JSON.parse(given ?? '{}')
  const quiet = () => {}
  /** @type {any} */
  const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet, child: () => logger }
  const base = `runtime/${process.pid}/${runs++}`

  /** @param {() => boolean} done */
  async function until(done) {
    for (let i = 0; i < 6000 && !done(); i++) await pause(10)
  }

  /** @type {unknown[]} */
  const exact = []
  /** @type {unknown[]} */
  const pattern = []
  /** @type {unknown[]} */
  const raw = []
  mqtt.subscribe(`${base}/a`, (message) => void exact.push(message), { qos: 1 })
  mqtt.subscribe(`${base}/+`, (topic, message) => void pattern.push([topic.slice(base.length), message]), { qos: 2 })
  mqtt.subscribe(`${base}/raw`, (bytes) => void raw.push([bytes instanceof Uint8Array, ...bytes]), {
    qos: 1,
    raw: true,
  })

  const server = new Server({
    port: 0,
    host: '127.0.0.1',
    drainWindow: 0,
    logger,
    router: new RouteCollection(),
    ...(adapter ? { adapter: /** @type {'node'} */ (adapter) } : {}),
    background: { mqtt: { connect } },
  })
  server.post('/publish', async (req) => {
    await mqtt.publish(`${base}/a`, req.body, { qos: 1 })
    return 'published'
  })
  const { port } = await server.listen()
  const answer = await fetch(`http://127.0.0.1:${port}/publish`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"ü":[1]}',
  })
  await mqtt.publish(`${base}/a`, 'text', { qos: 2 })
  await mqtt.publish(`${base}/raw`, Uint8Array.of(0, 255), { qos: 1 })
  await until(() => exact.length >= 2 && pattern.length >= 3 && raw.length >= 1)

  // A handler that is running when the server closes comes to its end.
  let ended = false
  let begun = false
  await mqtt.subscribe(`${base}/slow/x`, async () => {
    begun = true
    await pause(100)
    ended = true
  })
  await mqtt.publish(`${base}/slow/x`, 1)
  await until(() => begun)
  const healthy = await server.services.get('mqtt').check()
  await server.close()

  const refused = await MqttService.connect({ host: '127.0.0.1', port: 1, logger }).catch((error) => error.code)
  const unconnected = await mqtt.publish('a', 1).catch((error) => error.code)
  return { status: answer.status, exact, pattern, raw, ended, healthy, refused, unconnected }
}
