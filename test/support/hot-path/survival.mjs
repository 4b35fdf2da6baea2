import process from 'node:process'
import { getHeapSpaceStatistics } from 'node:v8'
import { start } from './application.mjs'

// Prints, as JSON, how many bytes of each request have become old, where they stay until a full collection. Unlike the count it
// runs with the compilers of V8, which may decide that something is old from birth.

const oldBytes = () =>
  getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space')?.space_used_size ?? Number.NaN

const times = 1500
const { ways, stop } = await start(8)
/** @type {Record<string, Record<string, number>>} */
const survivals = {}
for (const [name, scenario] of Object.entries(JSON.parse(process.argv[2] ?? '{}'))) {
  survivals[name] = {}
  for (const [way, ask] of Object.entries(ways)) {
    await ask(scenario, times / 2)
    globalThis.gc?.()
    const before = oldBytes()
    await ask(scenario, times)
    survivals[name][way] = Math.round((oldBytes() - before) / times)
  }
}
await stop()
console.log(JSON.stringify(survivals))
