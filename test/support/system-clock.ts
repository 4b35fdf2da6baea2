import { systemClock } from 'framework/kernel'
import { type TestClock, testClock } from 'framework/testing'

/** Moves the clock of the machine as well, for tests of patience with sockets, stores and closing, which no test clock of an application stops. */
export function moveSystemClock(start?: Date | string | number): TestClock {
  // No work in these tests is worth waiting for: what hangs, hangs on purpose.
  const clock = testClock(start, { patience: 20 })
  const machine = { ...systemClock }
  const restore = clock.restore
  Object.assign(systemClock, {
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    setTimeout: clock.setTimeout.bind(clock),
    setInterval: clock.setInterval.bind(clock),
    clear: clock.clear.bind(clock),
  })
  clock.restore = () => {
    Object.assign(systemClock, machine)
    restore()
  }
  return clock
}
