import { answerWithin } from '../shared/stores/availability.ts'

export type Outcome = 'ok' | 'degraded' | 'error'

/** The result of the probe `ready`, by the services of the scope: for the inspector, which shows it even if the probe has no path. */
export const probes = new WeakMap<
  object,
  () => Promise<{ readonly status: string; readonly checks: Readonly<Record<string, Outcome>> }>
>()

/** Called with every check whose outcome changes. */
export type OnChange = (name: string, outcome: Outcome, error: unknown) => void

/** One check with its state. */
class Watched {
  readonly #name: string
  readonly #check: () => unknown
  readonly #timeout: number
  readonly #onChange: OnChange
  /** The run that has not ended yet; probes come every few seconds and must not pile up when a check hangs. */
  #running: Promise<unknown> | undefined
  #last: Outcome = 'ok'

  constructor(name: string, check: () => unknown, timeout: number, onChange: OnChange) {
    this.#name = name
    this.#check = check
    this.#timeout = timeout
    this.#onChange = onChange
  }

  async outcome(): Promise<readonly [name: string, outcome: Outcome]> {
    let outcome: Outcome = 'ok'
    let failure: unknown
    try {
      const result = await answerWithin(this.#run(), this.#timeout)
      if (result === false) throw new Error('it returned false')
      if (result === 'degraded') outcome = result
    } catch (error) {
      outcome = 'error'
      failure = error
    }
    if (outcome !== this.#last) this.#onChange(this.#name, outcome, failure)
    this.#last = outcome
    return [this.#name, outcome]
  }

  #run(): Promise<unknown> {
    if (this.#running === undefined) {
      const running = (async () => this.#check())()
      const end = () => {
        this.#running = undefined
      }
      running.then(end, end)
      this.#running = running
    }
    return this.#running
  }
}

/** Makes a function that runs all checks concurrently, each within its timeout. `onChange` receives the reason for a failure. */
export function watchChecks(
  checks: { readonly [name: string]: () => unknown },
  timeout: number,
  onChange: OnChange,
): () => Promise<Record<string, Outcome>> {
  const watched = Object.entries(checks).map(([name, check]) => new Watched(name, check, timeout, onChange))
  return async () => Object.fromEntries(await Promise.all(watched.map((one) => one.outcome())))
}
