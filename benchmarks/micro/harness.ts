import type { Services } from '../services/servers.ts'
import { shuffled } from '../support/statistics.ts'

/** An operation that is measured in process. The cases of a group do the same work; the first one is the reference. */
export interface MicroCase {
  readonly group: string
  readonly name: string
  /** Whether this is a placeholder in a table for a case that cannot be measured here. */
  readonly isMissing?: boolean
  /** Does the work this many times. Each case has its own loop: a shared one would make all calls at one megamorphic site. */
  run(times: number): unknown
}

export interface MicroSettings {
  readonly rounds: number
  /** Runs every case once and measures nothing. */
  readonly check: boolean
  /** The names of the measured servers; without them, all servers. */
  readonly servers?: readonly string[]
  /** The servers that the service suites use. */
  readonly services?: Services
}

/** How long a slice of a case is, and how long each case runs before anything is measured. */
export interface Pace {
  readonly sliceMs: number
  readonly warmMs: number
}

/** Nanoseconds per operation, one value per round. */
export interface MicroSeries {
  readonly group: string
  readonly name: string
  /** CPU time. */
  readonly cost: number[]
  /** Wall-clock time, which includes the time of a server. */
  readonly wall: number[]
}

/** CPU time of this process in ns; it includes garbage collection, which is part of the cost, but no time of other processes. */
function cpuNow(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) * 1000
}

async function timed(one: MicroCase, times: number): Promise<{ cost: number; wall: number }> {
  const [start, since] = [cpuNow(), performance.now()]
  await one.run(times)
  return { cost: (cpuNow() - start) / times, wall: ((performance.now() - since) * 1e6) / times }
}

/** Finds how many operations fill a slice, once warm: the first few thousand of an inject cost three times as much as the rest. */
async function calibrate(one: MicroCase, { sliceMs, warmMs }: Pace): Promise<number> {
  const start = cpuNow()
  let times = 100
  for (;;) {
    const { cost } = await timed(one, times)
    if (cpuNow() - start > warmMs * 1e6) return Math.max(1, Math.round((sliceMs * 1e6) / cost))
    if (cost * times < sliceMs * 1e6) times *= 2
  }
}

export async function measure(
  cases: readonly MicroCase[],
  pace: Pace,
  settings: MicroSettings,
): Promise<MicroSeries[]> {
  const series = cases.map(({ group, name }): MicroSeries => ({ group, name, cost: [], wall: [] }))
  if (settings.check) {
    for (const one of cases) await one.run(1)
    return series
  }
  const present = [...cases.keys()].filter((i) => !cases[i]!.isMissing)
  const times = new Map<number, number>()
  for (const i of present) times.set(i, await calibrate(cases[i]!, pace))
  for (let round = 0; round < settings.rounds; round++) {
    for (const i of shuffled(present)) {
      const { cost, wall } = await timed(cases[i]!, times.get(i)!)
      series[i]!.cost.push(cost)
      series[i]!.wall.push(wall)
    }
  }
  return series
}
