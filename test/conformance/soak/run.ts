import { parseArgs } from 'node:util'
import { startApp, targets } from '../targets.ts'
import { load } from './load.ts'
import { type Reading, readFrom } from './reading.ts'

// GS-07 for any time: node --import tsx test/conformance/soak/run.ts --minutes 30 --rate 500 --target node
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    rate: { type: 'string', default: '500' },
    target: { type: 'string', default: 'node' },
  },
})
const minutes = Number(values.minutes)
const rate = Number(values.rate)
const target = targets.find(({ name }) => name === values.target)
if (target === undefined || !(minutes >= 3) || !(rate > 0)) {
  console.error(`--minutes from 3, --rate above 0, --target one of: ${targets.map(({ name }) => name).join(', ')}`)
  process.exit(2)
}

const megabytes = (bytes: number) => (bytes / 1e6).toFixed(1).padStart(7)
const app = await startApp(target, {}, { file: 'soak/app.mjs' })
const readings: Reading[] = []
const failures: string[] = []
try {
  console.log(`${target.name}, ${rate} requests a second\nminute   heap MB    rss MB  descriptors`)
  for (let minute = 0; minute <= minutes; minute++) {
    if (minute > 0) failures.push(...(await load(app.port, rate * 60, { clients: 40, rate })))
    const reading = await readFrom(app.port, app.pid)
    readings.push(reading)
    const { heap, rss, descriptors } = reading
    console.log(`${String(minute).padStart(6)}   ${megabytes(heap)}   ${megabytes(rss)}  ${descriptors}`)
  }
} finally {
  await app.stop()
}

/** What one number has grown by, per minute, by the line that fits best. */
function slope(values: readonly number[]): number {
  const middle = (values.length - 1) / 2
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  const above = values.reduce((sum, value, i) => sum + (i - middle) * (value - mean), 0)
  return above / values.reduce((sum, _, i) => sum + (i - middle) ** 2, 0)
}

// The first third is for compiled code, caches and pools.
const settled = readings.slice(Math.ceil(readings.length / 3))
const growth = slope(settled.map(({ rss }) => rss)) * 10
const heaps = settled.map(({ heap }) => heap)
const spread = Math.max(...heaps) / Math.min(...heaps) - 1
const open = settled.map(({ descriptors }) => descriptors)
const verdicts: [string, boolean][] = [
  [`resident memory grows by ${megabytes(growth).trim()} MB in 10 minutes, less than 1`, growth < 1e6],
  [`the heap stays within ${(spread * 100).toFixed(1)} %, less than 5`, spread < 0.05],
  [
    `${Math.min(...open)} to ${Math.max(...open)} descriptors are open, less than 20 apart`,
    Math.max(...open) - Math.min(...open) < 20,
  ],
  [`${readings.at(-1)!.events.length} exceptions that no one caught`, readings.at(-1)!.events.length === 0],
  [
    `${failures.length} answers that should be others${failures.length > 0 ? `, as ${failures[0]}` : ''}`,
    failures.length === 0,
  ],
]
for (const [what, holds] of verdicts) console.log(`${holds ? 'ok    ' : 'FAILED'}  ${what}`)
process.exitCode = verdicts.every(([, holds]) => holds) ? 0 : 1
