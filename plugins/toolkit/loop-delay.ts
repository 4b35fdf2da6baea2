/** Milliseconds of a timer: its additional wait is the delay. */
const resolution = 20

/** How late the event loop of this process is. */
export interface LoopDelay {
  /** The mean since the last call, in milliseconds; resets the measurement. */
  take(): number
  /** The number of samples and the sum of their milliseconds since the start, for readers that read now and then. */
  total(): { readonly count: number; readonly sum: number }
  stop(): void
}

/**
 * Begins to watch the event loop; the watch does not keep a process alive.
 *
 * By a timer on every runtime. `monitorEventLoopDelay` of Node.js records nothing at its first tick after a `reset()`: where each turn of the loop takes
 * longer than the time between two samples, which is the case to detect, it never records one. That of Deno measures nothing at all.
 */
export function watchLoopDelay(): LoopDelay {
  let sum = 0
  let count = 0
  let taken = { count: 0, sum: 0 }
  let last = performance.now()
  const timer = setInterval(() => {
    const now = performance.now()
    sum += Math.max(0, now - last - resolution)
    count++
    last = now
  }, resolution)
  timer.unref()
  return {
    take() {
      const looks = count - taken.count
      const mean = looks === 0 ? 0 : (sum - taken.sum) / looks
      taken = { count, sum }
      return mean
    },
    total: () => ({ count, sum }),
    stop: () => clearInterval(timer),
  }
}
