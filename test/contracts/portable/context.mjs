import assert from 'node:assert/strict'
import process from 'node:process'
import { queue, RouteCollection, Server } from 'framework'

// What the cases of the portable contract use. They run on every runtime, so they need no test runner.

/** @param {number} ms @returns {Promise<void>} */
export const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

/** @param {() => boolean | Promise<boolean>} holds @param {string} what */
export async function until(holds, what, ms = 20_000) {
  const giveUpAt = performance.now() + ms
  while (!(await holds())) {
    if (performance.now() > giveUpAt) throw new Error(`not within ${ms} ms: ${what}`)
    await pause(10)
  }
}

/** A promise that resolves when it is opened. */
export function gate() {
  /** @type {() => void} */
  let open = () => {}
  /** @type {Promise<void>} */
  const opened = new Promise((resolve) => (open = resolve))
  return { opened, open: () => open() }
}

let serial = 0

/**
 * @typedef {object} EngineUnderTest
 * @property {string} kind
 * @property {any} config
 * @property {readonly string[]} [lacks] Options and features that the engine cannot have.
 * @property {number} [step] Milliseconds to which it rounds times. Default 1.
 * @property {boolean} [isShared] Whether two servers have the same messages. Default true.
 * @property {(name: string, attempts: number) => Promise<unknown>} [prepare] Makes a queue, where the engine does not.
 */

/** Servers with one engine, and the queues of one case. */
export class Context {
  /** @type {{ level: string, message: string, fields: any }[]} */
  log = []
  /** @type {Server[]} */
  #servers = []

  /** @param {EngineUnderTest} engine */
  constructor(engine) {
    this.engine = engine
    this.step = engine.step ?? 1
    this.isShared = engine.isShared ?? true
  }

  get kind() {
    return this.engine.kind
  }

  /** @param {string} what */
  has(what) {
    return !(this.engine.lacks ?? []).includes(what)
  }

  /** Milliseconds in the steps of the engine. @param {number} ms */
  ms(ms) {
    return Math.max(ms, this.step)
  }

  /** A server that runs the subscribers. */
  async server() {
    const { config, kind } = this.engine
    const server = new Server({
      ...{ port: 0, host: '127.0.0.1', drainWindow: 0, closeTimeout: 4000, gracefulShutdown: false },
      logger: this.#logger({}),
      router: new RouteCollection(),
      background: { queues: { config: { ...config, queues: { default: kind } }, run: true } },
    })
    this.#servers.push(/** @type {any} */ (server))
    await server.listen()
    return server
  }

  /** The first server. */
  get a() {
    return /** @type {any} */ (this.#servers[0])
  }

  /** A name that no other case has. */
  async name(what = 'portable', attempts = 3) {
    const name = `${what}-${process.pid}-${++serial}-${Math.floor(Math.random() * 1e9)}`
    await this.engine.prepare?.(name, attempts)
    return name
  }

  /** A queue of the first server. @param {{ attempts?: number, name?: string } & Record<string, any>} [options] @returns {Promise<any>} */
  async queue({ most = 3, name, ...options } = {}) {
    return queue(name ?? (await this.name('portable', most)), options).for(this.a)
  }

  /** @param {any} one The queue. @param {any} [server] */
  operator(one, server = this.a) {
    return server.services.get('queues').of(one.name)
  }

  /** Counts that a service may report late. @param {any} one @param {Record<string, number>} expected */
  async counts(one, expected) {
    let seen = {}
    const holds = async () => {
      seen = await one.counts()
      return Object.entries(expected).every(([name, value]) => /** @type {any} */ (seen)[name] === value)
    }
    await until(holds, `counts ${JSON.stringify(expected)}`, 10_000).catch(() =>
      assert.deepEqual(seen, { ...seen, ...expected }),
    )
  }

  /** Entries of the log about a queue. @param {string} name */
  about(name) {
    return this.log.filter(({ message, fields }) => fields.queue === name || message.includes(name))
  }

  /** @param {any} fields @returns {any} */
  #logger(fields) {
    /** @param {string} level */
    const write =
      (level) =>
      (/** @type {any[]} */ ...given) => {
        const [more, message] = typeof given[0] === 'string' ? [{}, given[0]] : given
        this.log.push({ level, message: String(message ?? ''), fields: { ...fields, ...more } })
      }
    const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal']
    return {
      ...Object.fromEntries(levels.map((level) => [level, write(level)])),
      child: (/** @type {any} */ more) => this.#logger({ ...fields, ...more }),
    }
  }

  async close() {
    for (const server of this.#servers.splice(0)) await server.close()
  }
}

/**
 * @typedef {object} Case
 * @property {string} name
 * @property {readonly string[]} [needs] What the engine must have.
 * @property {(t: Context) => Promise<void>} run
 */

/** The subset of cases for an engine. @param {readonly Case[]} all @param {EngineUnderTest} engine */
export const casesFor = (all, engine) =>
  all.filter(({ needs = [] }) => needs.every((one) => !(engine.lacks ?? []).includes(one)))
