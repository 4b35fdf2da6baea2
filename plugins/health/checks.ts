import { clock, systemClock } from '../../kernel/index.ts'
import { answerWithin } from '../shared/stores/availability.ts'
import { safely } from '../shared/values/safely.ts'
import type { CheckedServices, ReadCheck } from './options.ts'

export type Outcome = 'ok' | 'degraded' | 'error'

const worst: readonly Outcome[] = ['error', 'degraded', 'ok']

/** The result of a check; `error` is the reason of a failure. */
export interface Result {
  readonly outcome: Outcome
  readonly error?: unknown
  /** What to do about a failure. */
  readonly remedy?: string | undefined
}

/** The worst of several results; `ok` for none. */
export const worstOf = (results: readonly Result[]): Result =>
  worst.flatMap((outcome) => results.find((one) => one.outcome === outcome) ?? [])[0] ?? { outcome: 'ok' }

/** The reason of a failure, for people. */
export const reasonOf = ({ error }: Result): string | undefined =>
  error === undefined ? undefined : error instanceof Error ? error.message : String(error)

/** The results of all checks, by name. */
export type Results = Readonly<Record<string, Result>>

/** The result of the probe `ready`. */
export interface Probed {
  readonly status: Outcome | 'starting' | 'closing'
  readonly results: Results
}

/** The probe `ready`, by the services of the scope: for the inspector, metrics and the doctor, which use it even if the probe has no path. */
export const probes = new WeakMap<object, () => Promise<Probed>>()

/** Called with every check whose outcome changes. */
export type OnChange = (name: string, result: Result) => void

/** Milliseconds after which a call that has not settled is given up: the connection that it waits for may never respond again. */
const patience = 60_000

/**
 * A check with the services of one scope. Probes come every few seconds and must not pile up, so concurrent ones share one call.
 * `timeout` and `cacheFor` are milliseconds.
 */
export function askedCheck(
  check: ReadCheck,
  services: CheckedServices,
  timeout: number,
  cacheFor = check.cacheFor ?? 0,
): () => Promise<Result> {
  let call: Promise<unknown> | undefined
  /** When the next probe makes another call. */
  let until = 0

  function begin(): Promise<unknown> {
    const cut = new AbortController()
    // Before the call, so that a check that heeds the signal reports its own reason.
    const timer = systemClock.setTimeout(() => cut.abort(new Error(`no response within ${timeout} ms`)), timeout)
    const begun = (async () => check.check(services, { signal: cut.signal }))()
    until = clock.monotonic() + patience
    const settled = () => {
      systemClock.clear(timer)
      if (call === begun) until = clock.monotonic() + cacheFor
    }
    begun.then(settled, settled)
    return begun
  }

  function failure(): Outcome {
    const { onFailure = 'error' } = check
    // A function that throws must not take the other checks from the response.
    const given = typeof onFailure === 'function' ? safely(() => onFailure(services)) : onFailure
    return given === 'degraded' ? given : 'error'
  }

  return async () => {
    if (call === undefined || clock.monotonic() >= until) call = begin()
    try {
      const result = await answerWithin(call, timeout)
      if (result === false) throw new Error('it returned false')
      return { outcome: result === 'degraded' ? result : 'ok' }
    } catch (error) {
      return { outcome: failure(), error, remedy: check.remedy }
    }
  }
}

/** Makes a function that runs all checks concurrently, and reports changes. */
export function watchChecks(
  checks: { readonly [name: string]: () => Promise<Result> },
  onChange: OnChange,
): () => Promise<Results> {
  const watched = Object.entries(checks).map(([name, ask]) => {
    let last: Outcome = 'ok'
    return async () => {
      const result = await ask()
      if (result.outcome !== last) onChange(name, result)
      last = result.outcome
      return [name, result] as const
    }
  })
  return async () => Object.fromEntries(await Promise.all(watched.map((ask) => ask())))
}
