import { ownEngine, portableCases, runCase } from '../contracts/portable/index.mjs'

/** Queues are declared for the whole process. */
export const isAlone = true

/**
 * What `queue(name)` promises, with several engines, on whichever runtime runs this. Returns the failures of each.
 *
 * @param {string} configs The configuration for each engine, as JSON.
 * @param {string} share Which of the cases with a service, as JSON: the first one, and how many further on the next one is.
 */
export async function run(configs, share) {
  const [first, step] = JSON.parse(share)
  /** @type {Record<string, { count: number, failures: string[] }>} */
  const results = {}
  const all = Object.entries(JSON.parse(configs)).flatMap(([kind, config]) => {
    const result = { count: 0, failures: /** @type {string[]} */ ([]) }
    results[kind] = result
    const engine = {
      ...{ kind, isShared: kind !== 'memory', lacks: ['dead letter queue'] },
      config: () => (kind === 'own' ? { own: ownEngine() } : config),
    }
    const hasService = kind === 'bullmq' || kind === 'pgboss'
    const cases = portableCases(engine).filter((_, i) => !hasService || i % step === first)
    return cases.map((one) => async () => {
      result.count++
      await runCase(engine, one).catch((error) => result.failures.push(`${one.name}: ${error?.stack ?? error}`))
    })
  })
  const work = async () => {
    for (let one = all.shift(); one !== undefined; one = all.shift()) await one()
  }
  // Side by side: most of the time they wait.
  await Promise.all(Array.from({ length: 10 }, work))
  return results
}
