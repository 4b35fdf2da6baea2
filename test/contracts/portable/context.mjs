import assert from 'node:assert/strict'
import process from 'node:process'
import { queue, RouteCollection, Server } from 'framework'

// What the cases of the portable contract use. They run on every runtime, so they need no test runner.

/** @param {number} ms @returns {Promise<void>} */
export const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

/** @param {() => boolean | Promise<boolean>} holds @param {string} what */
export async function until(holds, what, ms = 60_000) {
  const giveUpAt = performance.now() + ms
  while (!(await holds())) {
    if (performance.now() > giveUpAt) throw new Error(`not within ${ms} ms: ${what}`)
    await pause(40)
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
 * @property {() => any} config Its configuration, for servers that have the same messages.
 * @property {readonly string[]} [lacks] Options and features that the engine cannot have.
 * @property {number} [step] Milliseconds to which it rounds times. Default 1.
 * @property {boolean} [isShared] Whether two servers have the same messages. Default true.
 * @property {(name: string, attempts: number) => Promise<unknown>} [prepare] Makes a queue, where the engine does not.
 */

/** The server that the cases of an engine have in common while they run at the same time: most of what a case costs is its start. */
class First {
  /** @type {{ level: string, message: string, fields: any }[]} */
  log = []
  #users = 0
  /** @type {Promise<{ config: any, server: any }> | undefined} */
  #begun

  /** @param {EngineUnderTest} engine */
  constructor(engine) {
    this.engine = engine
  }

  begin() {
    this.#users++
    this.#begun ??= this.#start()
    return this.#begun
  }

  async #start() {
    const config = await this.engine.config()
    return { config, server: await this.start(config) }
  }

  /** A server that runs the subscribers. @param {any} config @returns {Promise<any>} */
  async start(config) {
    const server = new Server({
      ...{ port: 0, host: '127.0.0.1', drainWindow: 0, closeTimeout: 4000, gracefulShutdown: false },
      logger: this.#logger({}),
      router: new RouteCollection(),
      background: { queues: { config: { ...config, queues: { default: this.engine.kind } }, run: true } },
    })
    await server.listen()
    return server
  }

  async end() {
    const begun = this.#begun
    if (--this.#users > 0) return
    this.#begun = undefined
    await begun?.then(
      ({ server }) => server.close(),
      () => {},
    )
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
}

/** @type {WeakMap<EngineUnderTest, First>} */
const firsts = new WeakMap()

/** @param {EngineUnderTest} engine */
function firstOf(engine) {
  const first = firsts.get(engine) ?? new First(engine)
  firsts.set(engine, first)
  return first
}

/** Servers with one engine, and the queues of one case. */
export class Context {
  /** The first server, which other cases may have as well. @type {any} */
  a
  /** @type {any} */
  #config
  #first
  /** @type {any[]} */
  #servers = []
  /** @type {{ unsubscribe(): Promise<void> }[]} */
  #handles = []

  /** @param {EngineUnderTest} engine */
  constructor(engine) {
    this.engine = engine
    this.#first = firstOf(engine)
    this.step = engine.step ?? 1
    this.isShared = engine.isShared ?? true
  }

  async begin() {
    const { config, server } = await this.#first.begin()
    this.a = server
    this.#config = config
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

  /** A further server, with the same messages. */
  async server() {
    const server = await this.#first.start(this.#config)
    this.#servers.push(server)
    return server
  }

  /** A name that no other case has. */
  async name(what = 'portable', attempts = 3) {
    const name = `${what}-${process.pid}-${++serial}-${Math.floor(Math.random() * 1e9)}`
    await this.engine.prepare?.(name, attempts)
    return name
  }

  /** A queue of the first server. @param {{ attempts?: number, name?: string } & Record<string, any>} [options] @returns {Promise<any>} */
  async queue({ most = 3, name, ...options } = {}) {
    return this.ofFirst(queue(name ?? (await this.name('portable', most)), options))
  }

  /** A queue of the first server, whose subscribers end with the case. @param {any} one @returns {any} */
  ofFirst(one) {
    const own = one.for(this.a)
    for (const method of ['subscribe', 'subscribeBatch']) {
      const subscribe = own[method].bind(own)
      own[method] = async (/** @type {any[]} */ ...given) => {
        const handle = await subscribe(...given)
        this.#handles.push(handle)
        return handle
      }
    }
    return own
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
    await until(holds, `counts ${JSON.stringify(expected)}`).catch(() =>
      assert.deepEqual(seen, { ...seen, ...expected }),
    )
  }

  /** Entries of the log about a queue. @param {string} name */
  about(name) {
    return this.#first.log.filter(({ message, fields }) => fields.queue === name || message.includes(name))
  }

  async close() {
    // Not awaited: some handlers never end.
    for (const handle of this.#handles) handle.unsubscribe().catch(() => {})
    for (const server of this.#servers.splice(0)) await server.close()
    await this.#first.end()
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
