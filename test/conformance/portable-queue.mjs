import { ownEngine, portableCases, runCase } from '../contracts/portable/index.mjs'

/** Queues are declared for the whole process. */
export const isAlone = true

/**
 * What `queue(name)` promises, with one engine, on whichever runtime runs this. Returns the failures.
 *
 * @param {string} kind
 * @param {string} config As JSON.
 */
export async function run(kind, config) {
  const own = { kind, isShared: kind !== 'memory', config: kind === 'own' ? { own: ownEngine() } : JSON.parse(config) }
  const engine = { ...own, lacks: ['dead letter queue'] }
  const cases = portableCases(engine)
  /** @type {string[]} */
  const failures = []
  const work = async () => {
    for (let one = cases.shift(); one !== undefined; one = cases.shift())
      await runCase(engine, one).catch((error) => failures.push(`${one.name}: ${error?.stack ?? error}`))
  }
  const count = cases.length
  // Side by side: most of the time they wait.
  await Promise.all([work(), work(), work()])
  return { count, failures }
}
