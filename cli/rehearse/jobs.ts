import type { Instance } from './instance.ts'
import type { Left } from './protocol.ts'

/** Milliseconds within which an engine may still deliver what it had taken. */
const lateMs = 500

/** Messages that a queue has lost. */
export type QueueLoss = Left[number]

/** What the instances report of their jobs. */
export class Jobs {
  accepted = 0
  /** How many jobs were done twice, by their names. */
  readonly twice = new Map<string, number>()
  /** How many jobs began while their instance was closing, by their names. */
  readonly late = new Map<string, number>()
  /** Whether a job may be done twice from now on, because its instance was killed. */
  mayRepeat = false
  /** How often each message and each run was done, by job and id. */
  readonly #ended = new Map<string, Map<string, number>>()
  /** How many messages each queue has had. */
  readonly #had = new Map<string, number>()

  follow({ reports }: Instance): void {
    reports.each('accepted', ({ queue, count }) => {
      this.accepted += count
      add(this.#had, queue, count)
    })
    reports.each('late', ({ job, ms }) => void (ms > lateMs && add(this.late, job)))
    reports.each('job', ({ job, id, failed }) => {
      const ended = this.#ended.get(job) ?? new Map<string, number>()
      this.#ended.set(job, ended)
      const times = add(ended, id, failed ? 0 : 1)
      if (times === 2 && !failed && !this.mayRepeat) add(this.twice, job)
    })
  }

  /** Takes the messages into account that were there before the traffic. */
  begin(left: readonly Left[]): void {
    for (const { queue, count } of joined(left)) add(this.#had, queue, count)
  }

  /** The messages that have not ended, and that their queue does not have any more. */
  lost(left: readonly Left[]): QueueLoss[] {
    const all = joined(left).map((queue) => {
      const ended = this.#ended.get(`queue ${queue.queue}`)?.size ?? 0
      return { ...queue, count: (this.#had.get(queue.queue) ?? 0) - ended - queue.count }
    })
    return all.filter(({ count }) => count > 0)
  }
}

/** The queues of all instances: each of them has messages in memory of its own, and sees all those of an engine. */
function joined(all: readonly Left[]): QueueLoss[] {
  const queues = new Map<string, QueueLoss>()
  for (const one of all.flat()) {
    const before = queues.get(one.queue)?.count ?? 0
    queues.set(one.queue, { ...one, count: one.kind === 'memory' ? before + one.count : Math.max(before, one.count) })
  }
  return [...queues.values()]
}

function add(counts: Map<string, number>, name: string, count = 1): number {
  const sum = (counts.get(name) ?? 0) + count
  counts.set(name, sum)
  return sum
}
