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

/** Why a version does not start: its process has ended, or is running without a server. */
export type Failure = Ended | { readonly kind: 'failed'; readonly message: string }

/** One version of the application, in a process of its own. */
export interface Child {
  /** Lets it load the application, of which it has not loaded any part before. */
  load(load: Load): void
  /** Settles if it could not load the packages in advance. */
  readonly unfit: Promise<unknown>
  /** Settles when its first server has booted, or will not boot; never, if the application neither listens nor ends. */
  readonly booted: Promise<Failure | { readonly kind: 'booted' }>
  readonly ended: Promise<Ended>
  /** Settles if it could not open a port before it was allowed to listen. */
  readonly taken: Promise<{ readonly kind: 'taken' }>
  /** The failure that ended it, if it could report that. */
  readonly failure: Crash | undefined
  /** Lets it listen. */
  go(left: StoreContents): Promise<Failure | { readonly kind: 'listening'; readonly news: Listening }>
  /** Lets it go on after its address was shown. */
  shown(): void
  /** Ends it as a signal does, and by force if that takes longer than `patience` milliseconds. */
  stop(signal: EndSignal, patience: number): Promise<void>
  kill(): void
}

/** The options of a start other than the launch. */
export interface Start {
  readonly folder: string
  readonly env: NodeJS.ProcessEnv
  /** Receives the changes of the data that its stores keep. */
  kept(change: Kept): void
}

/** A change in the data of a store. */
export type Kept = Extract<News, { framework: 'kept' }>

/** Milliseconds that a channel may stay open after the end of its process. */
const lastWords = 100

/**
 * Starts a process that loads everything that is the same for every version (the runtime, the framework, the compiler), and
 * then waits for the order to load the application. Its output stays unchanged: its streams are those of this process.
 */
export function startChild({ program, args }: Launch, { folder, env, kept }: Start): Child {
  const process = spawn(program, args, {
    cwd: folder,
    env: { ...env, [variable]: String(own.pid) },
    // Through the channel, a child also notices the end of this process. All three runtimes support JSON.
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    serialization: 'json',
  })
  const ended = new Promise<Ended>((resolve) => {
    process.once('exit', (code, signal) => {
      const finish = () => resolve({ kind: 'ended', code, signal })
      if (!process.connected) return finish()
      // Its last message may arrive after its end.
      process.once('disconnect', finish)
      setTimeout(finish, lastWords)
    })
    // It could not be started; or a message no longer reached it, which its end will show.
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
    shown: () => give(process, { framework: 'shown' }),
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

/** Sends an order to a process that may have gone, which its end will show. */
function give(process: ChildProcess, order: Order): void {
  if (process.connected) process.send(order, () => {})
}
