import { systemClock } from '../../../kernel/index.ts'

/** Milliseconds of the timer; the time that it fires late is the delay. */
const resolution = 20

/** How late the event loop of this process is. */
export interface LoopDelay {
  /** Returns the mean since the last call, in milliseconds, and resets the measurement. */
  take(): number
  /** The number of samples and the sum of their milliseconds since the start, for readers that read from time to time. */
  total(): { readonly count: number; readonly sum: number }
  stop(): void
}

/**
 * Begins to watch the event loop; this does not keep a process alive.
 *
 * It uses a timer on every runtime. `monitorEventLoopDelay` of Node.js records nothing at its first tick after a `reset()`: if each turn
 * of the loop takes longer than the time between two samples, the case to detect, it never records one. Deno's measures nothing at all.
 */
export function watchLoopDelay(): LoopDelay {
  let sum = 0
  let count = 0
  let taken = { count: 0, sum: 0 }
  let last = systemClock.monotonic()
  const timer = systemClock.setInterval(() => {
    const now = systemClock.monotonic()
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
    stop: () => systemClock.clear(timer),
  }
}
