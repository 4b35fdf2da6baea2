import { type ChildProcess, spawn } from 'node:child_process'
import { constants } from 'node:os'
import own from 'node:process'
import { isInTime } from '../../kernel/support/within.ts'
import { Messages, type Named, type Stop } from './channel.ts'
import type { EndSignal } from './ending.ts'

/** How a process ended. */
export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** Milliseconds that a channel may stay open after the end of its process. */
const lastWords = 100
/** Milliseconds in which a process that has failed may end by itself: on a busy machine it needs more than 1000 to write why. */
export const last = 3000

/** How a process ended, for people. */
export const saidOf = ({ code, signal }: Ended): string =>
  signal ?? (code === null ? 'a failed start' : `exit code ${code}`)

/** Starts a process of the application with a channel to it. Its output stays unchanged: its streams are those of this process. */
export function spawnWithChannel(
  program: string,
  args: readonly string[],
  options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): ChildProcess {
  // Through the channel, a child also notices the end of this process. All three runtimes support JSON.
  return spawn(program, args, { ...options, stdio: ['inherit', 'inherit', 'inherit', 'ipc'], serialization: 'json' })
}

/** A process of the application, and the channel to it. */
export class Child<Order extends Named, News extends Named> {
  readonly ended: Promise<Ended>
  protected readonly news = new Messages<News>()
  readonly #process: ChildProcess
  /** Without one, it could not be started. */
  readonly pid: number | undefined
  isEnded = false

  constructor(process: ChildProcess) {
    this.#process = process
    this.pid = process.pid
    this.ended = endOf(process).finally(() => {
      this.isEnded = true
    })
    process.on('message', (message) => {
      if (this.news.take(message)) this.onNews()
    })
  }

  /** Called after each message of the process. */
  protected onNews(): void {}

  /** Sends an order to the process, which may have gone: its end will show that. */
  give(order: Order | Stop): void {
    if (this.#process.connected) this.#process.send(order, () => {})
  }

  /** Asks it to end, as a signal does. */
  stop(signal: EndSignal): void {
    this.give({ framework: 'stop', signal })
  }

  /** Waits for the end of a process that has failed: most end by themselves because of the error, with its stack. */
  async leave(patience = last): Promise<Ended> {
    if (!(await isInTime(this.ended, patience))) this.kill()
    return this.ended
  }

  kill(): void {
    this.#process.kill('SIGKILL')
  }
}

function endOf(process: ChildProcess): Promise<Ended> {
  return new Promise((resolve) => {
    process.once('exit', (code, signal) => {
      const finish = () => resolve({ code, signal })
      if (!process.connected) return finish()
      // Its last message may arrive after its end.
      process.once('disconnect', finish)
      setTimeout(finish, lastWords)
    })
    // It could not be started; or a message no longer reached it, which its end will show.
    process.on('error', () => process.pid === undefined && resolve({ code: null, signal: null }))
  })
}

/** All running processes of an application, until a signal ends them; the second signal does so immediately. */
export class Children<One extends Pick<Child<Named, Named>, 'ended' | 'kill'>> {
  readonly running = new Set<One>()
  /** Whether a signal, or its owner, has ended the work. */
  isStopping = false

  add(child: One): One {
    this.running.add(child)
    void child.ended.then(() => this.running.delete(child))
    return child
  }

  /** Calls a function with the first of the signals. */
  onSignal(signals: readonly EndSignal[], end: (signal: EndSignal) => void): void {
    for (const signal of signals) {
      own.on(signal, () => {
        if (this.isStopping) {
          for (const child of this.running) child.kill()
          own.exit(128 + constants.signals[signal])
        }
        this.isStopping = true
        end(signal)
      })
    }
  }
}
