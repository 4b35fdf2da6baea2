import { answerWithin } from '../shared/stores/availability.ts'
import { sharing } from '../shared/values/memoize.ts'

export type Outcome = 'ok' | 'degraded' | 'error'

/** The result of the probe `ready`, by the services of the scope: for the inspector, which shows it even if the probe has no path. */
export const probes = new WeakMap<
  object,
  () => Promise<{ readonly status: string; readonly checks: Readonly<Record<string, Outcome>> }>
>()

/** Called with every check whose outcome changes. */
export type OnChange = (name: string, outcome: Outcome, error: unknown) => void

/** Makes a function that runs all checks concurrently, each within its timeout. `onChange` receives the reason for a failure. */
export function watchChecks(
  checks: { readonly [name: string]: () => unknown },
  timeout: number,
  onChange: OnChange,
): () => Promise<Record<string, Outcome>> {
  const watched = Object.entries(checks).map(([name, check]) => {
    // Probes come every few seconds and must not pile up when a check hangs.
    const run = sharing(async () => check())
    let last: Outcome = 'ok'
    return async () => {
      let outcome: Outcome = 'ok'
      let failure: unknown
      try {
        const result = await answerWithin(run(), timeout)
        if (result === false) throw new Error('it returned false')
        if (result === 'degraded') outcome = result
      } catch (error) {
        outcome = 'error'
        failure = error
      }
      if (outcome !== last) onChange(name, outcome, failure)
      last = outcome
      return [name, outcome] as const
    }
  })
  return async () => Object.fromEntries(await Promise.all(watched.map((ask) => ask())))
}
