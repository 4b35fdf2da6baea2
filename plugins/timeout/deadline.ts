/**
 * Settles as the work does, or rejects with what `onTimeout` returns when that takes longer. The work goes on; nobody
 * listens to it any more.
 */
export function withDeadline<Value>(work: PromiseLike<Value>, ms: number, onTimeout: () => Error): Promise<Value> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(onTimeout()), ms)
    work.then(
      (value) => {
        clearTimeout(timer)
        resolve(value)
      },
      (error: unknown) => {
        clearTimeout(timer)
        reject(error)
      },
    )
  })
}
