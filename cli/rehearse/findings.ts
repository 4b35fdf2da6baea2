import { setTimeout as pause } from 'node:timers/promises'
import type { Closing, Instance } from './instance.ts'
import type { State } from './protocol.ts'

/** Something that the clients of an application would have noticed. */
export interface Finding {
  /** `killed`: a kill costs that, whatever the application does. */
  readonly level: 'lost' | 'killed'
  readonly count: number
  readonly what: string
}

/** Milliseconds that jobs have after the traffic, and between two looks at them. */
const patienceMs = 5000
const pollMs = 250

/** What was lost; losses that are alike are one finding with a count. */
export class Findings {
  /** Whether a job may be done twice from now on, because its instance was killed. */
  mayRepeat = false
  readonly #all = new Map<string, Finding>()
  readonly #ended = new Set<string>()
  readonly #done = new Set<string>()
  /** How many messages each queue has had that have not ended. */
  readonly #open = new Map<string, number>()

  get all(): readonly Finding[] {
    return [...this.#all.values()]
  }

  /** `key` is the same for losses that are alike: the first one stands for all. */
  add(what: string, { level = 'lost', count = 1, key = what }: Partial<Finding & { key: string }> = {}): void {
    const known = this.#all.get(key) ?? { level, count: 0, what }
    this.#all.set(key, { ...known, count: known.count + count })
  }

  /** Reports the jobs of an instance that begin too late, or are done twice. */
  follow({ reports }: Instance): void {
    reports.each('accepted', ({ queue, count }) => this.#expect(`queue ${queue}`, count))
    reports.each('late', ({ job }) => this.add(`${job} began after its instance had stopped its intake`))
    reports.each('job', ({ job, id, failed }) => {
      const run = `${job} ${id}`
      if (!this.#ended.has(run)) this.#expect(job, -1)
      this.#ended.add(run)
      if (failed) return
      if (this.#done.has(run) && !this.mayRepeat) this.add(`${job} was done twice before any kill`)
      this.#done.add(run)
    })
  }

  #expect(job: string, change: number): void {
    this.#open.set(job, (this.#open.get(job) ?? 0) + change)
  }

  /** Takes the messages into account that were there before the traffic. */
  begin(states: readonly State[]): void {
    for (const { queue, count } of leftIn(states)) this.#expect(`queue ${queue}`, count)
  }

  /** Reports the messages that have not ended, and that their queue does not have any more. */
  async finish(states: () => Promise<State[]>): Promise<void> {
    for (let waited = 0; ; waited += pollMs) {
      const left = leftIn(await states())
      const lost = left.map((one) => ({ ...one, count: (this.#open.get(`queue ${one.queue}`) ?? 0) - one.count }))
      const found = lost.filter(({ count }) => count > 0)
      if (waited < patienceMs && found.length > 0) await pause(pollMs)
      else {
        for (const { queue, kind, count } of found)
          this.add(`messages of the queue "${queue}" (${kind}) were accepted and never done`, { count })
        return
      }
    }
  }

  addClosing({ ms, ended, hooks }: Closing): void {
    const before = this.#all.size
    for (const { name, ms: took, error } of hooks) {
      if (took === undefined) this.add(`${name} did not settle`)
      else if (error !== undefined) this.add(`${name} failed: ${error}`)
    }
    if (ended !== 'exit code 0' && this.#all.size === before) this.add(`closing ended with ${ended} after ${ms} ms`)
  }
}

/** What the queues of all instances have: each has messages in memory of its own, and sees all those of an engine. */
function leftIn(states: readonly State[]): State['queues'] {
  return states[0]!.queues.map(({ queue, kind }) => {
    const counts = states.map(({ queues }) => queues.find((one) => one.queue === queue)?.count ?? 0)
    return { queue, kind, count: kind === 'memory' ? counts.reduce((sum, one) => sum + one) : Math.max(...counts) }
  })
}
