import { defineErrors, reportedTogether } from '../../../kernel/support/errors.ts'
import type { WorkerPlace } from '../../../kernel/support/worker.ts'
import { supervisor } from './supervisor.ts'

const { WorkerMemoryError, WorkerLeadError } = defineErrors({
  WorkerMemoryError: (what: string, { number, of }: WorkerPlace, remedy: string) =>
    `${what} in the memory of each process, and this is worker ${number} of ${of}. ${remedy}, or run one worker`,
  WorkerLeadError: [503, (topic: string, why: string) => `the leading worker has not responded to "${topic}": ${why}`],
})

/**
 * Asks the worker that leads, which does the work that only one may do. Question and response must have a form in JSON.
 *
 * @throws (as a rejection) WorkerLeadError if no such worker responds within 5 seconds, and in processes without a connection.
 * @example
 * const response = await askLeader('audit.count', { since: '2026-01-01' })
 */
export async function askLeader(topic: string, question?: unknown): Promise<unknown> {
  const asked = supervisor()?.ask(topic, question)
  if (asked === undefined) throw WorkerLeadError(topic, 'this process has no connection to it')
  return asked.catch((error: Error) => {
    throw WorkerLeadError(topic, error.message)
  })
}

/**
 * Responds to the questions of other workers while this one leads.
 *
 * @example
 * answerAsLeader('audit.count', () => 42)
 */
export function answerAsLeader(topic: string, answer: (question: unknown) => unknown): void {
  supervisor()?.answer(topic, answer)
}

/**
 * Refuses to continue in one of several workers: for state that would silently be wrong there, such as a count of
 * requests, of which each worker would have only a part.
 *
 * @param what The beginning of the message: "the sessions are kept".
 * @param remedy The end of the message: "Set session.store".
 * @throws WorkerMemoryError
 * @example
 * refuseSeveral(kernel.worker, 'the audit log is kept in memory', 'Set audit.store')
 */
export function refuseSeveral(place: WorkerPlace | undefined, what: string, remedy: string): void {
  if (place !== undefined && place.of > 1) throw reportedTogether(WorkerMemoryError(what, place, remedy))
}
