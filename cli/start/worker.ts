import { type ChildProcess, spawn } from 'node:child_process'
import own from 'node:process'
import { within } from '../../kernel/support/within.ts'
import type { EndSignal } from '../process/ending.ts'
import type { SharedPorts } from './port.ts'
import { type Given, isNews, type News, type Order, variable } from './protocol.ts'

/** How a process ended. */
export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** One process of the application. */
export interface Worker {
  readonly number: number
  readonly pid: number | undefined
  /** Settles when all its servers listen, or when one will not listen. */
  readonly booted: Promise<'listening' | 'failed' | 'ended'>
  readonly ended: Promise<Ended>
  readonly isEnded: boolean
  /** Counts a second without a sign of life, and returns how many in succession since the worker listens: loading may take longer. */
  missed(): number
  stop(signal: EndSignal): void
  /** Makes it the leading worker. */
  lead(): void
  /** Asks this worker as the leading one; rejects if it does not answer. */
  ask(topic: string, question: unknown): Promise<unknown>
  kill(): void
}

/** The supervisor's answers to a worker. */
export interface Answers {
  readonly ports: SharedPorts
  /** Asks the leading worker. */
  askLead(topic: string, question: unknown): Promise<unknown>
}

/** Timeout of an answer in milliseconds. */
const answerMs = 5000

/** Starts a process of the application, with these variables in addition to its own. */
export type Spawn = (env: NodeJS.ProcessEnv) => ChildProcess

export function startWorker(
  spawnProcess: Spawn,
  number: number,
  of: number,
  leads: boolean,
  { ports, askLead }: Answers,
): Worker {
  const given: Given = { parent: own.pid, leads }
  const process = spawnProcess({ FRAMEWORK_WORKER: `${number}/${of}`, [variable]: JSON.stringify(given) })
  let isEnded = false
  let missed = 0
  let listens = false
  const ended = new Promise<Ended>((resolve) => {
    const end = (code: number | null, signal: NodeJS.Signals | null) => {
      isEnded = true
      resolve({ code, signal })
    }
    process.once('exit', end)
    // It could not be started; or a message no longer reached it, which its end will show.
    process.on('error', () => process.pid === undefined && end(null, null))
  })
  const give = (order: Order) => {
    // The process may have gone, which its end will show.
    if (process.connected) process.send(order, () => {})
  }
  const share = async ({ number, host, port }: Extract<News, { framework: 'share' }>) => {
    try {
      give({ framework: 'shared', number, port: await ports.share(host, port, number) })
    } catch (error) {
      const { code = '', message } = error as NodeJS.ErrnoException
      give({ framework: 'shared', number, port, error: { code, message } })
    }
  }
  const passOn = async ({ number, topic, question }: Extract<News, { framework: 'ask' }>) => {
    try {
      give({ framework: 'answer', number, value: await askLead(topic, question) })
    } catch (error) {
      give({ framework: 'answer', number, error: (error as Error).message })
    }
  }
  const asked = new Map<number, (answer: Extract<News, { framework: 'answered' }>) => void>()
  let questions = 0
  const booted = new Promise<'listening' | 'failed' | 'ended'>((resolve) => {
    void ended.then(() => resolve('ended'))
    process.on('message', (message: unknown) => {
      if (!isNews(message)) return
      missed = 0
      if (message.framework === 'share') void share(message)
      else if (message.framework === 'ask') void passOn(message)
      else if (message.framework === 'answered') asked.get(message.number)?.(message)
      else if (message.framework !== 'alive') {
        listens = message.framework === 'listening'
        resolve(message.framework)
      }
    })
  })
  return {
    number,
    pid: process.pid,
    booted,
    ended,
    get isEnded() {
      return isEnded
    },
    missed: () => (listens ? ++missed : 0),
    stop: (signal) => give({ framework: 'stop', signal }),
    lead: () => give({ framework: 'lead' }),
    async ask(topic, question) {
      const number = ++questions
      const answered = new Promise<unknown>((resolve, reject) => {
        asked.set(number, ({ value, error }) => (error === undefined ? resolve(value) : reject(new Error(error))))
        void ended.then(() => reject(new Error('it has ended')))
      })
      give({ framework: 'question', number, topic, question })
      const late = () => Promise.reject(new Error(`it took more than ${answerMs} ms`))
      return within(answered, answerMs, late).finally(() => asked.delete(number))
    },
    kill: () => void process.kill('SIGKILL'),
  }
}

/** Starts workers as separate processes: on Bun and Deno, where several processes can bind one port. */
export function spawnBy(program: string, args: readonly string[], folder: string): Spawn {
  return (env) =>
    spawn(program, args, {
      cwd: folder,
      env: { ...own.env, ...env },
      // All three runtimes support JSON.
      stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
      serialization: 'json',
    })
}

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
    execArgv: [...own.execArgv, '--import', preload],
    cwd: folder,
    serialization: 'json',
  })
  return (env) => {
    const worker = cluster.fork(env)
    // The worker object repeats errors of its process, which would end this one without a listener.
    worker.on('error', () => {})
    return worker.process
  }
}
