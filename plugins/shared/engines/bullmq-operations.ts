import type { Job, JobType, Queue } from 'bullmq'
import { safely } from '../values/safely.ts'
import { type MessageState, messageStates, type QueueOperations, type StoredMessage } from './contract.ts'
import { bullmqId } from './ids.ts'

/** What was published with a job; not checked. */
export function metaIn({ opts }: Job): unknown {
  const metadata = opts.telemetry?.metadata
  return typeof metadata === 'string' ? safely(() => JSON.parse(metadata)) : undefined
}

/** BullMQ has a state of its own for waiting jobs with a priority, which come after the others. */
const stateOf = (name: string) => (name === 'prioritized' ? 'waiting' : messageStates.find((state) => state === name))

function stored(job: Job, state: MessageState): StoredMessage {
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
export function bullmqOperations(queueOf: (topic: string) => Promise<Queue>, signal: AbortSignal): QueueOperations {
  /** Counts the jobs for which a change succeeds: others are gone, or in another state by now. */
  const change = async (topic: string, ids: readonly string[], work: (job: Job) => Promise<unknown>) => {
    const queue = await queueOf(topic)
    const changed = await Promise.all(
      ids.map(async (id) => {
        const found = await findIn(queue, id)
        signal.throwIfAborted()
        return found === undefined ? false : await work(found.job).then(() => true, ignored)
      }),
    )
    return changed.filter(Boolean).length
  }
  return {
    async list(topic, state, from, limit) {
      const queue = await queueOf(topic)
      const part = (list: JobType, begin: number, count: number) =>
        queue.getJobs([list], begin, begin + count - 1, state !== 'failed')
      const jobs = await part(state, from, limit)
      if (state === 'waiting' && jobs.length < limit) {
        const { waiting = 0 } = await queue.getJobCounts('waiting')
        jobs.push(...(await part('prioritized', Math.max(0, from - waiting), limit - jobs.length)))
      }
      return jobs.filter((job) => job !== undefined).map((job) => stored(job, state))
    },
    async find(topic, id) {
      const found = await findIn(await queueOf(topic), id)
      return found && stored(found.job, found.state)
    },
    retry: (topic, ids) =>
      change(topic, ids, (job) => job.retry('failed', { resetAttemptsMade: true, resetAttemptsStarted: true })),
    remove: (topic, ids) => change(topic, ids, (job) => job.remove()),
    pause: async (topic) => (await queueOf(topic)).pause(),
    resume: async (topic) => (await queueOf(topic)).resume(),
    isPaused: async (topic) => (await queueOf(topic)).isPaused(),
  }
}

/** The job with an id of BullMQ, or with one that its publisher has chosen; none if it is done. */
async function findIn(queue: Queue, id: string) {
  for (const own of [id, bullmqId(id)]) {
    const job = await queue.getJob(own)
    const state = job && stateOf(await job.getState())
    if (job !== undefined && state !== undefined) return { job, state }
  }
  return undefined
}

/** A script of BullMQ refuses a job in another state with a number, or a locked one; an unreachable Redis is another matter. */
function ignored(error: unknown): false {
  if (/state|lock|missing/i.test((error as Error).message)) return false
  throw error
}
