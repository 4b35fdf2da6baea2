import { virtualClock } from '../../kernel/index.ts'
import { MovedClock, type TestClock, testClock } from './clock.ts'

/** The clock of the servers under test, and how many have it. */
const shared: { clock: TestClock | undefined; servers: number } = { clock: undefined, servers: 0 }

/** Gives a server under test the clock of the process: one that the test has made, or that of other servers, or another one. */
export function clockOfServer(start: Date | string | number | undefined): { clock: TestClock; release: () => void } {
  const own = virtualClock()
  if (own instanceof MovedClock && own !== shared.clock && start === undefined) return { clock: own, release() {} }
  if (own === undefined || start !== undefined) shared.clock = testClock(start)
  shared.servers++
  const clock = shared.clock!
  let isOver = false
  const release = () => {
    if (isOver) return
    isOver = true
    if (--shared.servers > 0) return
    shared.clock = undefined
    clock.restore()
  }
  return { clock, release }
}
