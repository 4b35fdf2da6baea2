import own from 'node:process'
import { isInTime } from '../../kernel/support/within.ts'
import { Child, last, spawnWithChannel } from '../process/child.ts'
import { type Crash, type Kept, type News, type Order, type StoreContents, variable } from './protocol.ts'
import type { Launch } from './runtime.ts'

type NewsOf<Name extends News['framework']> = Extract<News, { framework: Name }>

/** The report of a server that listens. */
export type Listening = NewsOf<'listening'>

/**
 * One version of the application, in a process of its own, which loads everything that is the same for every version (the runtime, the
 * framework, the compiler), and then waits for the order to load the application.
 */
export class Version extends Child<Order, News> {
  /** Settles if it could not load the packages in advance. */
  readonly unfit: Promise<unknown>
  /** Settles when its first server has booted, or will not boot; never, if the application neither listens nor ends. */
  readonly booted: Promise<'failed' | NewsOf<'booted'>>
  /** Settles if it could not open a port before it was allowed to listen. */
  readonly taken: Promise<NewsOf<'taken'>>
  /** Settles when it has ended, or goes on without a server. */
  readonly #failed: Promise<'failed'>
  readonly #listening: Promise<Listening>
  /** Why its last server to fail does not listen. */
  refusal: string | undefined
  /** The failure that ended it, if it could report that. */
  failure: Crash | undefined

  /** `kept` receives the changes of the data that its stores keep. */
  constructor({ program, args }: Launch, cwd: string, env: NodeJS.ProcessEnv, kept: (change: Kept) => void) {
    super(spawnWithChannel(program, args, { cwd, env: { ...env, [variable]: String(own.pid) } }))
    this.unfit = this.news.next('unfit')
    this.news.each('failed', ({ message }) => {
      this.refusal = message
    })
    // An application may handle the failure: by another port, or without that server.
    const late = this.news.next('failed').then(() => isInTime(this.ended, last))
    this.#failed = Promise.race([late, this.ended]).then(() => 'failed')
    this.booted = Promise.race([this.news.next('booted'), this.#failed])
    this.taken = this.news.next('taken')
    this.#listening = this.news.next('listening')
    this.news.each('kept', kept)
    this.news.each('crashed', ({ failure }) => {
      this.failure = failure
    })
  }

  /** Lets it listen. */
  go(left: StoreContents): Promise<'failed' | Listening> {
    this.give({ framework: 'go', left })
    return Promise.race([this.#listening, this.#failed])
  }
}
