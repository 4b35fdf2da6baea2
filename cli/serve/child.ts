import { type ChildProcess, spawn } from 'node:child_process'
import own from 'node:process'
import { within } from '../../kernel/support/within.ts'
import type { EndSignal } from '../process/ending.ts'
import { type Crash, isNews, type Load, type News, type Order, type StoreContents, variable } from './protocol.ts'
import type { Launch } from './runtime.ts'

/** The report of a server that listens. */
export type Listening = Extract<News, { framework: 'listening' }>

/** How a process ended. */
export interface Ended {
  readonly kind: 'ended'
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** Why a version does not start: its process has ended, or continues without a server. */
export type Failure = Ended | { readonly kind: 'failed'; readonly message: string }

/** One version of the application, in a process of its own. */
export interface Child {
  /** Lets it load the application; before that it has loaded no part of it. */
  load(load: Load): void
  /** Settles when it could not load the packages in advance. */
  readonly unfit: Promise<unknown>
  /** Settles when its first server has booted, or will not. Never, for one that neither listens nor ends. */
  readonly booted: Promise<Failure | { readonly kind: 'booted' }>
  readonly ended: Promise<Ended>
  /** Settles when it could not open a port before it was allowed to listen. */
  readonly taken: Promise<{ readonly kind: 'taken' }>
  /** The failure that it has ended by, if it could report that. */
  readonly failure: Crash | undefined
  /** Lets it listen. */
  go(left: StoreContents): Promise<Failure | { readonly kind: 'listening'; readonly news: Listening }>
  /** Ends it as a signal does, and by force when it takes longer than `patience` milliseconds. */
  stop(signal: EndSignal, patience: number): Promise<void>
  kill(): void
}

/** The options of a start besides the launch. */
export interface Start {
  readonly folder: string
  readonly env: NodeJS.ProcessEnv
  /** Receives the data that its stores keep. */
  kept(change: Kept): void
}

/** A change in the data of a store. */
export type Kept = Extract<News, { framework: 'kept' }>

/** Milliseconds that a channel may stay open after the end of its process. */
const lastWords = 100

/**
 * Starts a process that loads everything that is the same for every version (the runtime, the framework, the compiler), and
 * then waits for the order to load the application. Its output is not changed: its streams are those of this process.
 */
export function startChild({ program, args }: Launch, { folder, env, kept }: Start): Child {
  const process = spawn(program, args, {
    cwd: folder,
    env: { ...env, [variable]: String(own.pid) },
    // Through the channel a child also notices the end of this process. All three runtimes support JSON.
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    serialization: 'json',
  })
  const ended = new Promise<Ended>((resolve) => {
    process.once('exit', (code, signal) => {
      const finish = () => resolve({ kind: 'ended', code, signal })
      if (!process.connected) return finish()
      // Its last message may come after its end.
      process.once('disconnect', finish)
      setTimeout(finish, lastWords)
    })
    // It could not be started, or a message did not reach it any more, which its end shows.
    process.on('error', () => process.pid === undefined && resolve({ kind: 'ended', code: null, signal: null }))
  })
  const news = <Kind extends News['framework']>(kind: Kind) =>
    new Promise<Extract<News, { framework: Kind }>>((resolve) => {
      process.on('message', (message) => {
        if (isNews(message) && message.framework === kind) resolve(message as Extract<News, { framework: Kind }>)
      })
    })
  let failure: Crash | undefined
  process.on('message', (message) => {
    if (!isNews(message)) return
    if (message.framework === 'kept') kept(message)
    else if (message.framework === 'crashed') failure = message.failure
  })
  const failed = news('failed').then(({ message }) => ({ kind: 'failed', message }) as const)
  const listening = news('listening').then((news) => ({ kind: 'listening', news }) as const)
  return {
    load: (load) => give(process, { framework: 'load', ...load }),
    unfit: news('unfit'),
    booted: Promise.race([news('booted').then(() => ({ kind: 'booted' }) as const), failed, ended]),
    ended,
    taken: news('taken').then(() => ({ kind: 'taken' }) as const),
    get failure() {
      return failure
    },
    go(left) {
      give(process, { framework: 'go', left })
      return Promise.race([listening, failed, ended])
    },
    async stop(signal, patience) {
      give(process, { framework: 'stop', signal })
      await within(ended, patience, () => {
        process.kill('SIGKILL')
        return ended
      })
    },
    kill: () => void process.kill('SIGKILL'),
  }
}

/** To a process that may be gone, which its end shows. */
function give(process: ChildProcess, order: Order): void {
  if (process.connected) process.send(order, () => {})
}
