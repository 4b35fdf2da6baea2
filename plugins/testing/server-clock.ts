import { virtualClock } from '../../kernel/index.ts'
import { MovedClock, type TestClock, testClock } from './clock.ts'

/** The clock of the servers under test, and what gives it back for each. */
let shared: TestClock | undefined
const users = new Set<() => void>()

/** Gives a server under test the clock of the process: one that the test has made, or that of other servers, or another one. */
export function clockOfServer(start: Date | string | number | undefined): { clock: TestClock; release: () => void } {
  const own = virtualClock()
  if (own instanceof MovedClock && own !== shared && start === undefined) return { clock: own, release() {} }
  if (own === undefined || start !== undefined) shared = testClock(start)
  const clock = shared!
  const release = () => {
    if (!users.delete(release) || users.size > 0) return
    shared = undefined
    clock.restore()
  }
  users.add(release)
  return { clock, release }
}
