import { AsyncLocalStorage } from 'node:async_hooks'
import { renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname } from 'node:path'
import process from 'node:process'
import { createInterface } from 'node:readline'

// One process for the fixtures of a run of the tests on one runtime. Arguments: the file that says where it listens, and the process that
// it ends with. Each line of a connection asks for something, as JSON: to run a fixture and return its result, to start its application,
// or to stop one.
const [, , file = '', parent = ''] = process.argv

/**
 * @typedef {{ port: number, stop: () => Promise<unknown>, events?: string[] }} App
 * @typedef {{ id: number, run?: string, start?: string, stop?: number, args: any[] }} Request
 */

/** What fails when an exception is left uncaught: whose it is cannot be known. @type {Set<(what: string) => void>} */
const affected = new Set()
for (const event of /** @type {const} */ (['uncaughtException', 'unhandledRejection']))
  process.on(event, (/** @type {any} */ error) => {
    const what = `${event} ${error?.stack ?? error}`
    console.error(what)
    for (const fail of affected) fail(what)
  })

// On Deno, one run began in the context of another fixture's server, which was closed by then.
const outside = AsyncLocalStorage.snapshot()

/** Fixtures that use what the process has once, such as declared queues, run one after the other. */
let turn = Promise.resolve()

/** @param {string} fixture @param {any[]} args */
async function run(fixture, args) {
  const { run, isAlone = false } = await import(fixture)
  const earlier = turn
  let done = () => {}
  if (isAlone) turn = new Promise((resolve) => (done = () => resolve(undefined)))
  if (isAlone) await earlier
  /** @type {(what: string) => void} */
  let fail = () => {}
  const failed = new Promise((_resolve, reject) => (fail = (what) => reject(new Error(what))))
  affected.add(fail)
  try {
    return await Promise.race([run(...args), failed])
  } finally {
    affected.delete(fail)
    done()
  }
}

const server = createServer((connection) => {
  /** @type {Map<number, App & { fail: (what: string) => void }>} */
  const apps = new Map()
  /** @param {string} fixture @param {any[]} args @param {number} id */
  const start = async (fixture, args, id) => {
    /** @type {App} */
    const app = await (await import(fixture)).start(...args)
    const fail = (/** @type {string} */ what) => void app.events?.push(what)
    affected.add(fail)
    apps.set(id, { ...app, fail })
    return { port: app.port }
  }
  /** @param {number} id */
  const stop = async (id) => {
    const app = apps.get(id)
    apps.delete(id)
    await app?.stop()
    if (app !== undefined) affected.delete(app.fail)
  }
  /** @param {Request} request */
  const answer = async ({ id, args, ...request }) => {
    if (request.run !== undefined) return run(request.run, args)
    if (request.start !== undefined) return start(request.start, args, id)
    return stop(request.stop ?? 0)
  }
  createInterface({ input: connection }).on('line', async (line) => {
    const request = JSON.parse(line)
    const result = await outside(answer, request).then(
      (value) => ({ value }),
      (error) => ({ error: String(error?.stack ?? error) }),
    )
    if (!connection.destroyed) connection.write(`${JSON.stringify({ id: request.id, ...result })}\n`)
  })
  connection.on('error', () => {})
  // A test file that ends, however it does, leaves no application.
  connection.on('close', () => {
    for (const id of apps.keys()) void stop(id).catch(() => {})
  })
  connection.write(`${process.pid}\n`)
})

server.listen(0, '127.0.0.1', () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  writeFileSync(`${file}.new`, JSON.stringify({ port, pid: process.pid }))
  renameSync(`${file}.new`, file)
})

setInterval(() => {
  try {
    process.kill(Number(parent), 0)
  } catch {
    for (const own of [file, `${file}.lock`, `${file}.log`]) rmSync(own, { force: true })
    try {
      // The last one of the run.
      rmdirSync(dirname(file))
    } catch {}
    process.exit()
  }
}, 500)
