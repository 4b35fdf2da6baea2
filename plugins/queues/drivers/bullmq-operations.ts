import { safely } from '../../shared/values/safely.ts'
import type { BullJob, BullQueue } from './bullmq-types.ts'
import type { MessageState, QueueOperations, StoredMessage } from './contract.ts'

/** What was published with a job; not checked. */
export function metaIn({ opts }: BullJob): unknown {
  const metadata = opts.telemetry?.metadata
  return typeof metadata === 'string' ? safely(() => JSON.parse(metadata)) : undefined
}

/** The lists of BullMQ with the jobs of a state. */
const lists: { readonly [State in MessageState]: string[] } = {
  waiting: ['waiting', 'prioritized'],
  active: ['active'],
  delayed: ['delayed'],
  failed: ['failed'],
}

const stateOf = (name: string) =>
  (Object.keys(lists) as MessageState[]).find((state) => state === name || lists[state].includes(name))

function stored(job: BullJob, state: MessageState): StoredMessage {
  const { id, data, attemptsMade, timestamp, opts, delay = 0, stacktrace, failedReason } = job
  const stacks = (stacktrace ?? []).map((stack) => ({ message: stack.split('\n', 1)[0]!, stack }))
  const errors = stacks.length > 0 || failedReason === undefined ? stacks : [{ message: failedReason }]
  return {
    ...{ id: id!, state, payload: data, attempt: attemptsMade, attempts: opts.attempts || 1 },
    ...{ publishedAt: timestamp, errors, meta: metaIn(job) },
    dueAt: state === 'delayed' ? (job.processedOn ?? timestamp) + delay : undefined,
  }
}

/** What an operator can do with the jobs of a queue in Redis. */
export function bullmqOperations(queueOf: (topic: string) => Promise<BullQueue>): QueueOperations {
  /** Counts the jobs for which a change succeeds: others are gone, or in another state by now. */
  const change = async (topic: string, ids: readonly string[], work: (job: BullJob) => Promise<unknown>) => {
    const queue = await queueOf(topic)
    const changed = await Promise.all(
      ids.map(async (id) => {
        const job = await queue.getJob(id)
        return job === undefined ? false : await work(job).then(() => true, ignored)
      }),
    )
    return changed.filter(Boolean).length
  }
  return {
    async list(topic, state, from, limit) {
      const jobs = await (await queueOf(topic)).getJobs(lists[state], from, from + limit - 1, state !== 'failed')
      return jobs
        .filter((job) => job !== undefined)
        .slice(0, limit)
        .map((job) => stored(job, state))
    },
    async find(topic, id) {
      const job = await (await queueOf(topic)).getJob(id)
      const state = job && stateOf(await job.getState())
      return job && state && stored(job, state)
    },
    retry: (topic, ids) =>
      change(topic, ids, (job) => job.retry('failed', { resetAttemptsMade: true, resetAttemptsStarted: true })),
    remove: (topic, ids) => change(topic, ids, (job) => job.remove()),
    pause: async (topic) => (await queueOf(topic)).pause(),
    resume: async (topic) => (await queueOf(topic)).resume(),
    isPaused: async (topic) => (await queueOf(topic)).isPaused(),
  }
}

/** A script of BullMQ refuses a job in another state with a number, or a locked one; an unreachable Redis is another matter. */
function ignored(error: unknown): false {
  if (/state|lock|missing/i.test((error as Error).message)) return false
  throw error
}
