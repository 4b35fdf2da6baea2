import { createHook } from 'node:async_hooks'
import process from 'node:process'
import { setTimeout } from 'node:timers/promises'
import { getHeapStatistics } from 'node:v8'
import { latest, start } from './application.mjs'

// Prints what one request of each scenario costs, as JSON. It runs without the compilers of V8, which leave out allocations where
// they can, not the same ones in each run. The interpreter does what the code says: on Node.js 24 and 26 two runs agree to the byte.

/** @typedef {() => Promise<void>} Ask */

/**
 * The bytes of the heap that a request takes; no collection runs meanwhile. The least of some passes, because the process does
 * something of its own now and then.
 *
 * @param {Ask} ask
 * @param {number} times
 */
async function bytesOf(ask, times) {
  let least = Number.POSITIVE_INFINITY
  globalThis.gc?.()
  for (let pass = 0; pass < 4; pass++) {
    const before = getHeapStatistics().used_heap_size
    await ask()
    least = Math.min(least, getHeapStatistics().used_heap_size - before)
  }
  return Math.round(least / times)
}

/**
 * How many promises, ticks, timers and other asynchronous things a request makes.
 *
 * @param {Ask} ask
 * @param {number} times
 */
async function resourcesOf(ask, times) {
  /** @type {Record<string, number>} */
  const made = {}
  const hook = createHook({
    init(_id, type) {
      made[type] = (made[type] ?? 0) + 1
    },
  })
  hook.enable()
  await ask()
  hook.disable()
  // Those that belong to the batch are less than half of one for each request.
  const rounded = Object.entries(made).map(([type, count]) => /** @type {const} */ ([type, Math.round(count / times)]))
  const { PROMISE: promises = 0, TickObject: ticks = 0, ...others } = Object.fromEntries(rounded)
  return { promises, ticks, others: Object.entries(others).filter(([, count]) => count > 0) }
}

// Natives are not JavaScript: a file with one in it could not be linted.
const haveSameMap = new Function('a', 'b', 'return %HaveSameMap(a, b)')
const isFast = new Function('object', 'return %HasFastProperties(object)')

/** How many hidden classes the objects have. An object that is a dictionary counts as one. @param {object[]} objects */
function hiddenClasses(objects) {
  /** @type {object[]} */
  const found = []
  for (const one of objects) if (!isFast(one) || !found.some((other) => haveSameMap(one, other))) found.push(one)
  return found.length
}

/** @type {[string, import('./application.mjs').Scenario][]} */
const scenarios = Object.entries(JSON.parse(process.argv[2] ?? '{}'))
const { ways, stop } = await start(1)
/** @type {Record<string, Record<string, unknown>>} */
const costs = Object.fromEntries(scenarios.map(([name]) => [name, {}]))
const shapes = {}
for (const [way, ask] of Object.entries(ways)) {
  for (const [, scenario] of scenarios) await ask(scenario, 50)
  // The start has left some work.
  await setTimeout(10)
  for (const [name, scenario] of scenarios) {
    const bytes = await bytesOf(() => ask(scenario, 50), 50)
    costs[name][way] = { bytes, ...(await resourcesOf(() => ask(scenario, 20), 20)) }
  }
  const handled = []
  for (const [, scenario] of [...scenarios, ...scenarios]) {
    await ask(scenario, 1)
    handled.push({ ...latest })
  }
  shapes[way] = {
    requests: hiddenClasses(handled.map(({ req }) => req)),
    responses: hiddenClasses(handled.map(({ res }) => res)),
    raw: hiddenClasses(handled.map(({ req }) => req.raw)),
  }
}
await stop()
console.log(JSON.stringify({ costs, shapes }))
