import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { pinned } from '../support/machine.ts'
import type { Runtime } from '../support/runtime.ts'
import { root, type Stage } from '../support/stage.ts'
import { median, pairedRatio, spread } from '../support/statistics.ts'
import { decimals, percent, section, today } from '../support/table.ts'
import type { MicroSeries, MicroSettings } from './harness.ts'
import type { MicroName, MicroSuite } from './suites.ts'

/** Runs a suite once in a new process; for a check, several suites. */
export function runMicro(
  names: readonly MicroName[],
  stage: Stage,
  settings: MicroSettings,
  { binary }: Runtime,
): Promise<MicroSeries[]> {
  const script = fileURLToPath(new URL('child.ts', import.meta.url))
  // Node.js from 22.18 on reads TypeScript itself.
  const readsTypes = binary === process.execPath && Reflect.get(process.features, 'typescript')
  const loader = readsTypes ? [] : ['--import', 'tsx']
  const [command, ...args] = pinned(0, [
    binary,
    ...loader,
    script,
    names.join(),
    stage.folder,
    JSON.stringify(settings),
  ])
  return new Promise((resolve, reject) => {
    const child = spawn(command!, args, {
      cwd: root,
      env: { ...process.env, NODE_ENV: 'production' },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let output = ''
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString()
    })
    child.on('error', reject)
    child.on('close', (code) => {
      if (code === 0) resolve(JSON.parse(output) as MicroSeries[])
      else reject(new Error(`the suite ${names.join(', ')} ended with ${code}`))
    })
  })
}

/** Concatenates the rounds of several processes. */
export function joinSeries(generations: readonly MicroSeries[][]): MicroSeries[] {
  return generations[0]!.map((first, i) => ({
    ...first,
    cost: generations.flatMap((series) => series[i]!.cost),
    wall: generations.flatMap((series) => series[i]!.wall),
  }))
}

/** Writes the table of a suite; if it uses servers, also with the wall-clock time, part of which they take. */
export function microReport(
  { title, reference, services }: Pick<MicroSuite, 'title' | 'reference' | 'services'>,
  series: readonly MicroSeries[],
): string {
  const asksServers = services !== undefined
  const rows = series.map((one) => {
    const other = series.find(({ group, name }) => group === one.group && name === reference)
    const ratio = (values: 'cost' | 'wall') =>
      decimals(2)(other === undefined ? Number.NaN : pairedRatio(one[values], other[values]))
    const onClock = [decimals(0)(median(one.wall)), ratio('wall')]
    return [
      `${one.group}: ${one.name}`,
      decimals(0)(median(one.cost)),
      percent(spread(one.cost)),
      ratio('cost'),
      ...(asksServers ? onClock : []),
    ]
  })
  return section(
    title,
    `${today()}: in process; CPU time with garbage collection.`,
    ['case', 'ns', 'IQR', `× ${reference}`, ...(asksServers ? ['wall ns', `wall × ${reference}`] : [])],
    rows,
  )
}
