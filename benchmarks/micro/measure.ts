import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { pinned } from '../support/machine.ts'
import type { Runtime } from '../support/runtime.ts'
import { root, type Stage } from '../support/stage.ts'
import { median, pairedRatio, spread } from '../support/statistics.ts'
import { decimals, percent, section, today } from '../support/table.ts'
import type { MicroSeries, MicroSettings } from './harness.ts'
import type { MicroName } from './suites.ts'

/** Runs a suite once in a new process. */
export function runMicro(
  name: MicroName,
  stage: Stage,
  settings: MicroSettings,
  { binary }: Runtime,
): Promise<MicroSeries[]> {
  const script = fileURLToPath(new URL('child.ts', import.meta.url))
  const [command, ...args] = pinned(0, [
    binary,
    '--import',
    'tsx',
    script,
    name,
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
      else reject(new Error(`the suite ${name} ended with ${code}`))
    })
  })
}

/** Puts the rounds of several processes behind each other. */
export function joinSeries(generations: readonly MicroSeries[][]): MicroSeries[] {
  return generations[0]!.map((first, i) => ({ ...first, cost: generations.flatMap((series) => series[i]!.cost) }))
}

export function microReport(title: string, reference: string, series: readonly MicroSeries[]): string {
  const rows = series.map((one) => {
    const other = series.find(({ group, name }) => group === one.group && name === reference)
    return [
      `${one.group}: ${one.name}`,
      decimals(0)(median(one.cost)),
      percent(spread(one.cost)),
      other === undefined ? '–' : decimals(2)(pairedRatio(one.cost, other.cost)),
    ]
  })
  return section(
    title,
    `${today()}: in process; CPU time with garbage collection.`,
    ['case', 'ns', 'IQR', `× ${reference}`],
    rows,
  )
}
