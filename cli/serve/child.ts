import own from 'node:process'
import { Child, type Ended, spawnWithChannel } from '../process/child.ts'
import { type Crash, type Kept, type News, type Order, type StoreContents, variable } from './protocol.ts'
import type { Launch } from './runtime.ts'

/** The report of a server that listens. */
export type Listening = Extract<News, { framework: 'listening' }>

/** Why a version does not start: its process has ended, or is running without a server. */
export type Failure =
  | { readonly kind: 'ended'; readonly why: Ended }
  | { readonly kind: 'failed'; readonly message: string }

/**
 * One version of the application, in a process of its own, which loads everything that is the same for every version (the runtime, the
 * framework, the compiler), and then waits for the order to load the application.
 */
export class Version extends Child<Order, News> {
  /** Settles if it could not load the packages in advance. */
  readonly unfit: Promise<unknown>
  /** Settles when its first server has booted, or will not boot; never, if the application neither listens nor ends. */
  readonly booted: Promise<Failure | { readonly kind: 'booted' }>
  /** Settles if it could not open a port before it was allowed to listen. */
  readonly taken: Promise<{ readonly kind: 'taken' }>
  readonly #failed: Promise<Failure>
  readonly #listening: Promise<{ readonly kind: 'listening'; readonly news: Listening }>
  #failure: Crash | undefined

  /** `kept` receives the changes of the data that its stores keep. */
  constructor({ program, args }: Launch, cwd: string, env: NodeJS.ProcessEnv, kept: (change: Kept) => void) {
    super(spawnWithChannel(program, args, { cwd, env: { ...env, [variable]: String(own.pid) } }))
    this.unfit = this.news.next('unfit')
    this.#failed = Promise.race([
      this.news.next('failed').then(({ message }) => ({ kind: 'failed', message }) as const),
      this.ended.then((why) => ({ kind: 'ended', why }) as const),
    ])
    this.booted = Promise.race([this.news.next('booted').then(() => ({ kind: 'booted' }) as const), this.#failed])
    this.taken = this.news.next('taken').then(() => ({ kind: 'taken' }) as const)
    this.#listening = this.news.next('listening').then((news) => ({ kind: 'listening', news }) as const)
    this.news.each('kept', kept)
    this.news.each('crashed', ({ failure }) => {
      this.#failure = failure
    })
  }

  /** The failure that ended it, if it could report that. */
  get failure(): Crash | undefined {
    return this.#failure
  }

  /** Lets it listen. */
  go(left: StoreContents): Promise<Failure | { readonly kind: 'listening'; readonly news: Listening }> {
    this.give({ framework: 'go', left })
    return Promise.race([this.#listening, this.#failed])
  }
}
