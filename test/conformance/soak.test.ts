import { setTimeout as pause } from 'node:timers/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import { load } from './soak/load.ts'
import { type Reading, readFrom } from './soak/reading.ts'
import { measured, startApp, type Target } from './targets.ts'

const pace = { clients: 20 }
const requests = 400
/** Bytes that a request may leave on the heap: less than a request or a response takes. */
const bytesPerRequest = 800
/** Connections that end in a moment. */
const fewDescriptors = 10
/** Megabytes of resident memory that a runtime may keep for later. */
const megabytes = 64

interface Outcome {
  readonly failures: readonly string[]
  readonly before: Reading
  readonly after: Reading
}

async function soak(target: Target): Promise<Outcome> {
  const app = await startApp(target, {}, { file: 'soak/app.mjs' })
  try {
    // What is compiled, cached and pooled is so by then.
    const failures = await load(app.port, requests * 3, pace)
    const before = await readFrom(app.port, app.pid)
    failures.push(...(await load(app.port, requests, pace)))
    let after = await readFrom(app.port, app.pid)
    // Finalizers, and sockets that are being closed, take their time on a busy machine.
    for (let i = 0; i < 160 && !isSettled(before, after); i++) {
      await pause(250)
      after = await readFrom(app.port, app.pid)
    }
    return { failures, before, after }
  } finally {
    await app.stop()
  }
}

function isSettled(before: Reading, after: Reading): boolean {
  const hasHeap = after.heap - before.heap < bytesPerRequest * requests
  const hasMemory = (after.rss - before.rss) / 1e6 < megabytes
  return hasHeap && hasMemory && after.descriptors - before.descriptors < fewDescriptors
}

const outcomes = new Map<string, Outcome>()

// The short form. That for hours is `soak/run.ts`, see CONTRIBUTING.md.
describe.each(measured)('GS-07 a bit of everything on $name', (target) => {
  beforeAll(async () => {
    if (outcomes.size > 0) return
    await Promise.all(measured.map(async (one) => outcomes.set(one.name, await soak(one))))
  })
  const outcome = () => outcomes.get(target.name)!

  test('is answered as it should be, and no error is left uncaught', () => {
    expect(outcome().failures).toEqual([])
    expect(outcome().after.events).toEqual([])
  })

  test('leaks no memory and no descriptor', () => {
    const { before, after } = outcome()
    expect(after.heap - before.heap).toBeLessThan(bytesPerRequest * requests)
    expect(after.descriptors - before.descriptors).toBeLessThan(fewDescriptors)
    expect((after.rss - before.rss) / 1e6).toBeLessThan(megabytes)
  })
})
