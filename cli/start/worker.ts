import type { ChildProcess } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { isInTime } from '../../kernel/support/within.ts'
import { memoizedIn } from '../../plugins/shared/values/memoize.ts'
import { Questions, replyTo } from '../process/channel.ts'
import { Child, last, spawnWithChannel } from '../process/child.ts'
import type { EndSignal } from '../process/ending.ts'
import { type Given, type News, type Order, responseMs, variable } from './protocol.ts'

/** What all workers share. */
export interface Launch {
  readonly spawn: Spawn
  /** The number of workers. */
  readonly of: number
  readonly share: SharePort
}

/** Starts a process of the application, with these variables in addition to its own. */
export type Spawn = (env: NodeJS.ProcessEnv) => ChildProcess

/** One process of the application. */
export class Worker extends Child<Order, News> {
  readonly number: number
  /** Settles with whether its servers listen; without one that has failed, it listens if it has not ended in the time for that. */
  readonly booted: Promise<boolean>
  readonly #questions = new Questions()
  #missed = 0
  /** Whether all its servers have listened. */
  listens = false
  /** An order to end that was given before the first sign of life. */
  #early: EndSignal | undefined
  #isHeard = false

  /** `leads`: whether it does the work that only one may do from the start; `askLead` asks the worker that does it later. */
  constructor({ spawn, of, share }: Launch, number: number, leads: boolean, askLead: Worker['ask']) {
    const given: Given = { parent: process.pid, leads }
    super(spawn({ FRAMEWORK_WORKER: `${number}/${of}`, [variable]: JSON.stringify(given) }))
    this.number = number
    const { news } = this
    news.each('listening', () => {
      this.listens = true
    })
    const failed = news.next('failed').then(() => true)
    this.booted = Promise.race([failed, news.next('listening'), this.ended])
      .then((first) => first === true && isInTime(this.ended, last))
      .then(() => this.listens && !this.isEnded)
    news.each('share', (asked) => this.#reply(asked.number, () => share(asked.host, asked.port, asked.nth)))
    news.each('ask', (asked) => this.#reply(asked.number, () => askLead(asked.topic, asked.question)))
    news.each('closed', (asked) => this.#reply(asked.number, async () => {}))
    news.each('answered', (reply) => this.#questions.settle(reply))
  }

  protected override onNews(): void {
    this.#missed = 0
    this.#isHeard = true
    if (this.#early !== undefined) super.stop(this.#early)
    this.#early = undefined
  }

  /** Node.js drops messages to a worker of `node:cluster` that does not listen yet, so that an early order is repeated. */
  override stop(signal: EndSignal): void {
    if (!this.#isHeard) this.#early = signal
    super.stop(signal)
  }

  #reply(number: number, answer: () => Promise<unknown>): void {
    void replyTo(number, answer).then((reply) => this.give({ framework: 'answer', ...reply }))
  }

  /** Counts a second without a sign of life, and returns how many in succession since the worker listens: loading may take longer. */
  missed(): number {
    return this.listens ? ++this.#missed : 0
  }

  /** Asks this worker as the leading one; rejects if it does not answer. */
  ask(topic: string, question: unknown): Promise<unknown> {
    const put = (number: number) => this.give({ framework: 'question', number, topic, question })
    const late = () => Promise.reject(new Error(`it took more than ${responseMs} ms`))
    const gone = this.ended.then(() => Promise.reject(new Error('it has ended')))
    return Promise.race([this.#questions.ask(put, responseMs, late), gone])
  }
}

/** Starts workers as separate processes: on Bun and Deno, where several processes can bind one port. */
export const spawnBy =
  (program: string, args: readonly string[], cwd: string): Spawn =>
  (env) =>
    spawnWithChannel(program, args, { cwd, env: { ...process.env, ...env } })

/**
 * Starts workers through `node:cluster`: this process has the listening socket, so that a connection that waits for a worker that is
 * ending goes to another one. If workers had sockets of their own, with SO_REUSEPORT, the connections in their queues would be lost.
 */
export async function clusterBy(folder: string, file: string, preload: string): Promise<Spawn> {
  const { default: cluster } = await import('node:cluster')
  cluster.schedulingPolicy = cluster.SCHED_RR
  cluster.setupPrimary({
    exec: file,
    args: [],
    execArgv: [...process.execArgv, '--import', preload],
    cwd: folder,
  })
  const serving = new Set<ChildProcess>()
  const givenBack = new Set<Connection>()
  return (env) => {
    const worker = cluster.fork(env)
    // The worker object repeats errors of its process, which would end this one without a listener.
    worker.on('error', () => {})
    worker.once('listening', () => serving.add(worker.process))
    closeUntaken(worker.process, serving, givenBack)
    return worker.process
  }
}

type Connection = Pick<Server, 'close'>

/**
 * Closes the connections that a process has not taken when it ends, after a busy loop for example: Node.js keeps them open, and their clients would
 * wait until their own time is over. A process is handed one at a time for each port, and replies: one that it gave back waits for another
 * process that serves, and is closed with the last of them.
 */
function closeUntaken(worker: ChildProcess, serving: Set<ChildProcess>, givenBack: Set<Connection>): void {
  const handed = new Map<number | undefined, Connection>()
  const send: (...given: never[]) => boolean = worker.send.bind(worker)
  worker.send = (...given: unknown[]) => {
    const [{ act, seq }, handle] = given as [{ act?: string; seq?: number }, Connection]
    // Sockets for UDP are handed over as well, and stay those of all processes.
    if (act === 'newconn') handed.set(seq, handle)
    return send(...(given as never[]))
  }
  // Before the listener of `node:cluster`, which hands it the next one.
  worker.prependListener('internalMessage', ({ ack, accepted }: { ack?: number; accepted?: boolean }) => {
    const replied = handed.get(ack)
    if (replied !== undefined && handed.delete(ack)) givenBack[accepted ? 'delete' : 'add'](replied)
  })
  worker.once('exit', () => {
    serving.delete(worker)
    const lost = serving.size > 0 ? [] : [...givenBack].filter((one) => givenBack.delete(one))
    for (const one of [...handed.values(), ...lost]) one.close()
  })
}

/** Answers for all workers which port they bind; rejects if a process that is not one of the workers has it. */
export type SharePort = (host: string, port: number, nth: number) => Promise<number>

/**
 * Several processes can bind one port with SO_REUSEPORT, and so could any other that does the same, such as a second start of the
 * application, which would receive half of the requests. So before the first worker binds it, the port is opened once exclusively, which
 * fails if another process has it.
 */
export function sharedPorts(): SharePort {
  const known = new Map<string, Promise<number>>()
  return (host, port, nth) =>
    memoizedIn(known, `${host} ${port === 0 ? `any ${nth}` : port}`, () => openOnce(host, port))
}

async function openOnce(host: string, port: number): Promise<number> {
  // Any port is below 32768: systems give those above to any process or connection, which would have it before a worker does.
  const tried = port || 10_000 + randomInt(20_000)
  const server = createServer().listen({ host, port: tried, exclusive: true })
  try {
    await once(server, 'listening')
  } catch (error) {
    if (port === 0 && /EADDRINUSE|EACCES/.test(String(error))) return openOnce(host, port)
    throw error
  }
  await once(server.close(), 'close')
  return tried
}
