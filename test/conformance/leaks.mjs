import { spawn } from 'node:child_process'
import { connect, createServer } from 'node:net'
import process from 'node:process'
import { Worker } from 'node:worker_threads'
import { definePlugin, RouteCollection, Server } from 'framework'
import { clock as kernelClock } from 'framework/kernel'
import { trackLeaks } from 'framework/testing'

// It watches the whole process, so it has one of its own.
const [, , port] = process.argv
console.log(JSON.stringify(await run(port)))

/**
 * What a plugin leaves on whichever runtime runs this, the kinds that are found, and whether each has the plugin and a line of this file.
 *
 * @param {string} [port] Of a server on loopback.
 */
async function run(port) {
  const quiet = () => {}
  /** @type {any} */
  const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet, child: () => logger }
  const leaks = trackLeaks({ patience: 200 })
  /** @type {(() => unknown)[]} */
  const ends = []
  const leaky = definePlugin({
    name: 'leaky',
    async setup() {
      await undefined
      const interval = setInterval(quiet, 60_000)
      const timer = setTimeout(quiet, 60_000)
      const own = kernelClock.setInterval(quiet, 60_000)
      const socket = connect(Number(port), '127.0.0.1')
      await new Promise((resolve) => socket.once('connect', () => resolve(undefined)))
      const server = createServer()
      await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)))
      const child = spawn('sleep', ['60'])
      const worker = new Worker('setInterval(() => {}, 1000)', { eval: true })
      await new Promise((resolve) => worker.once('online', () => resolve(undefined)))
      ends.push(...(await serveNatively()), () => worker.terminate())
      ends.push(
        () => clearInterval(interval),
        () => clearTimeout(timer),
        () => kernelClock.clear(own),
        () => socket.destroy(),
        () => server.close(),
        () => child.kill(),
      )
    },
  })
  const answering = definePlugin({
    name: 'answering',
    setup: (ctx) =>
      ctx.get('/', async () => {
        await undefined
        const left = setInterval(quiet, 60_000)
        ends.push(() => clearInterval(left))
        return 'ok'
      }),
  })
  const server = new Server({
    router: new RouteCollection(),
    plugins: [leaky(), answering()],
    logger,
    port: 0,
    host: '127.0.0.1',
  })
  await server.listen()
  await (await fetch(`${server.url}/`, { headers: { connection: 'close' } })).text()
  setTimeout(quiet, 1)
  await server.close()
  const found = await leaks.find()
  for (const end of ends) end()
  let after = await leaks.find()
  // Not at once on a busy machine.
  for (let more = 150; more > 0 && after.length > 0; more--) after = await leaks.find()
  leaks.stop()
  return {
    kinds: found.flatMap(({ kind, count }) => Array.from({ length: count }, () => kind)).sort(),
    plugins: [...new Set(found.map(({ plugin }) => plugin))].sort(),
    files: [...new Set(found.map(({ place }) => /[^/]+(?=:\d+:\d+$)/.exec(place)?.[0]))],
    after: after.map(({ kind, place }) => `${kind} ${place}`),
  }
}

/** Makes servers with the functions of Bun and Deno, and ends some; returns the functions that end the others. */
async function serveNatively() {
  /** @type {any} */
  const { Bun, Deno } = globalThis
  const answer = () => new Response('x')
  const at = { port: 0, hostname: '127.0.0.1', onListen() {} }
  if (Bun !== undefined) {
    await Bun.serve({ ...at, fetch: answer }).stop()
    const served = Bun.serve({ ...at, fetch: answer })
    return [() => served.stop(true)]
  }
  if (Deno === undefined) return []
  const abort = new AbortController()
  await Deno.serve(at, answer).shutdown()
  const aborted = Deno.serve({ ...at, signal: abort.signal }, answer)
  abort.abort()
  await aborted.finished
  Deno.listen(at).close()
  Deno.listen(at)[Symbol.dispose]()
  const [served, listening] = [Deno.serve(at, answer), Deno.listen(at)]
  return [() => served.shutdown(), () => listening.close()]
}
