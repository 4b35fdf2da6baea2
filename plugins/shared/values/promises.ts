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
