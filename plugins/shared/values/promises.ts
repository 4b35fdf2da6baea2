import { type Clock, isInTime } from '../../../kernel/index.ts'

/** A promise with its `resolve` and `reject`; like `Promise.withResolvers`, which Node.js 20 does not have. */
export interface Deferred<T> {
  readonly promise: Promise<T>
  resolve(value: T): void
  reject(error: unknown): void
}

export function deferred<T = void>(): Deferred<T> {
  let resolve!: (value: T) => void
  let reject!: (error: unknown) => void
  const promise = new Promise<T>((yes, no) => {
    resolve = yes
    reject = no
  })
  return { promise, resolve, reject }
}

/** Whether a promise is fulfilled within this many milliseconds; one that is rejected is not. */
export const withinTime = (promise: Promise<unknown>, ms: number, by?: Clock): Promise<boolean> =>
  isInTime(promise, ms, by).catch(() => false)

/** Settles as a promise does, or as `aborted` once the signal aborts. Not `Promise.race`: one that never settles would keep every race in memory. */
export function unlessAborted<T, Other>(promise: Promise<T>, signal: AbortSignal, aborted: () => Other) {
  return new Promise<T | Other>((resolve, reject) => {
    const onAbort = () => resolve(new Promise((settle) => settle(aborted())))
    if (signal.aborted) return onAbort()
    signal.addEventListener('abort', onAbort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
}
