import { isPromise, within } from '../../kernel/index.ts'

/** Called with the reason when a check counts as a refusal because it did not return `true` or `false`. */
export type OnFault = (why: string, error?: unknown) => void

const expired = Symbol('expired')

/** Judges the result of a check. Only `true` allows: any truthy value would include `'false'`, an error object, or a promise that was not awaited. */
function judge(value: unknown, onFault: OnFault): boolean {
  if (value === true) return true
  if (value !== false) onFault(`returned ${value === null ? 'null' : `a ${typeof value}`}, not a boolean`)
  return false
}

/**
 * The decision of a check, synchronous if the check is. An error, a rejection, a value that is not a boolean and a value that
 * does not arrive within `timeout` milliseconds are refusals.
 */
export function verdictOf(ask: () => unknown, timeout: number, onFault: OnFault): boolean | Promise<boolean> {
  let value: unknown
  try {
    value = ask()
    if (isPromise(value)) return verdictWithin(value, timeout, onFault)
  } catch (error) {
    onFault('threw', error)
    return false
  }
  return judge(value, onFault)
}

async function verdictWithin(pending: PromiseLike<unknown>, timeout: number, onFault: OnFault): Promise<boolean> {
  try {
    const value = await within(pending, timeout, () => expired)
    if (value !== expired) return judge(value, onFault)
    onFault(`did not settle within ${timeout} ms`)
  } catch (error) {
    onFault('rejected', error)
  }
  return false
}
