import own from 'node:process'
import { Child, type Ended, spawnWithChannel } from '../process/child.ts'
import { type Crash, type Kept, type News, type Order, type StoreContents, variable } from './protocol.ts'
import type { Launch } from './runtime.ts'

type NewsOf<Name extends News['framework']> = Extract<News, { framework: Name }>

/** The report of a server that listens. */
export type Listening = NewsOf<'listening'>

/** Why a version does not start: its process has ended, or is running without a server. */
export type Failure = NewsOf<'failed'> | { readonly framework: 'ended'; readonly why: Ended }

/**
 * One version of the application, in a process of its own, which loads everything that is the same for every version (the runtime, the
 * framework, the compiler), and then waits for the order to load the application.
 */
export class Version extends Child<Order, News> {
  /** Settles if it could not load the packages in advance. */
  readonly unfit: Promise<unknown>
  /** Settles when its first server has booted, or will not boot; never, if the application neither listens nor ends. */
  readonly booted: Promise<Failure | NewsOf<'booted'>>
  /** Settles if it could not open a port before it was allowed to listen. */
  readonly taken: Promise<NewsOf<'taken'>>
  readonly #failed: Promise<Failure>
  readonly #listening: Promise<Listening>
  /** The failure that ended it, if it could report that. */
  failure: Crash | undefined

  /** `kept` receives the changes of the data that its stores keep. */
  constructor({ program, args }: Launch, cwd: string, env: NodeJS.ProcessEnv, kept: (change: Kept) => void) {
    super(spawnWithChannel(program, args, { cwd, env: { ...env, [variable]: String(own.pid) } }))
    this.unfit = this.news.next('unfit')
    this.#failed = Promise.race([
      this.news.next('failed'),
      this.ended.then((why) => ({ framework: 'ended', why }) as const),
    ])
    this.booted = Promise.race([this.news.next('booted'), this.#failed])
    this.taken = this.news.next('taken')
    this.#listening = this.news.next('listening')
    this.news.each('kept', kept)
    this.news.each('crashed', ({ failure }) => {
      this.failure = failure
    })
  }

  /** Lets it listen. */
  go(left: StoreContents): Promise<Failure | Listening> {
    this.give({ framework: 'go', left })
    return Promise.race([this.#listening, this.#failed])
  }
}
