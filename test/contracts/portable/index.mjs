import { attemptCases } from './attempts.mjs'
import { Context, casesFor } from './context.mjs'
import { idCases } from './ids.mjs'
import { operationCases } from './operations.mjs'
import { workerCases } from './workers.mjs'

/** What the functions of `queue(name)` promise on every engine. */
const all = [...attemptCases, ...idCases, ...workerCases, ...operationCases]

/** @param {import('./context.mjs').EngineUnderTest} engine */
export const portableCases = (engine) => casesFor(all, engine)

/** Runs one case; those that run at the same time with the same engine share a server. @param {import('./context.mjs').EngineUnderTest} engine @param {import('./context.mjs').Case} one */
export async function runCase(engine, one) {
  const t = new Context(engine)
  try {
    await t.begin()
    await one.run(t)
  } finally {
    await t.close()
  }
}

export { ownEngine } from './own-engine.mjs'

/** Only SQS has it. */
export const lackedByAll = ['dead letter queue']

/** What SQS cannot have: priorities, lists, a pause; ids only in FIFO queues. */
export const lackedBySqs = [
  ...['priority', 'id', 'repeat', 'pause', 'operations', 'oldest', 'order'],
  ...['default attempts', 'attempts of its own'],
]
