import type { Services } from '../services/servers.ts'
import { shuffled } from '../support/statistics.ts'

/** A measured operation in process. Cases of one group do the same work; the first one is the reference. */
export interface MicroCase {
  readonly group: string
  readonly name: string
  /** A placeholder in a table for a case that cannot be measured here. */
  readonly isMissing?: boolean
  /** Does the work this many times. A loop of its own for each case: a shared one would call through one megamorphic site. */
  run(times: number): unknown
}

export interface MicroSettings {
  readonly rounds: number
  /** Runs every case once and measures nothing. */
  readonly check: boolean
  /** The names of the measured servers; all without. */
  readonly servers?: readonly string[]
  /** The servers that suites of services use. */
  readonly services?: Services
}

/** How long a slice of a case is, and how long each case runs before anything is measured. */
export interface Pace {
  readonly sliceMs: number
  readonly warmMs: number
}

/** Nanoseconds for each operation, a value a round. */
export interface MicroSeries {
  readonly group: string
  readonly name: string
  /** CPU time. */
  readonly cost: number[]
  /** On the clock: it includes the time of a server. */
  readonly wall: number[]
}

/** CPU time of this process in ns; with garbage collection, which is part of the cost, and without the time of other processes. */
function cpuNow(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) * 1000
}

async function timed(one: MicroCase, times: number): Promise<{ cost: number; wall: number }> {
  const [start, since] = [cpuNow(), performance.now()]
  await one.run(times)
  return { cost: (cpuNow() - start) / times, wall: ((performance.now() - since) * 1e6) / times }
}

/** How many operations fill a slice, found in the warm state: the first thousands of an inject cost three times the rest. */
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
