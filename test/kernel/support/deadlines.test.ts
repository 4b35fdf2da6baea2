import { AsyncLocalStorage } from 'node:async_hooks'
import { describe, expect, test } from 'vitest'
import { Deadlines, Running } from '../../../kernel/support/deadlines.ts'
import { pause } from '../../support/kernel.ts'

class Task extends Running {
  readonly giveUp: () => void

  constructor(giveUp: () => void) {
    super()
    this.giveUp = giveUp
  }
}

/** Begins an operation with a time limit; returns a function that ends it. */
function begin(deadlines: Deadlines, giveUp: () => void): () => void {
  const task = new Task(giveUp)
  deadlines.add(task)
  return () => deadlines.end(task)
}

describe('deadlines', () => {
  test('give up in the order of the beginnings, and not before the time is over', async () => {
    const seen: string[] = []
    const deadlines = new Deadlines(30)
    const started = performance.now()
    let first = 0
    begin(deadlines, () => {
      first = performance.now() - started
      seen.push('a')
    })
    begin(deadlines, () => seen.push('b'))
    await pause(15)
    begin(deadlines, () => seen.push('c'))
    await expect.poll(() => seen).toEqual(['a', 'b', 'c'])
    expect(first).toBeGreaterThanOrEqual(30)
  })

  test.each([
    ['first', 0],
    ['middle', 1],
    ['last', 2],
  ])('leave out what has ended: the %s', async (_which, index) => {
    const seen: number[] = []
    const deadlines = new Deadlines(20)
    const ends = [0, 1, 2].map((i) => begin(deadlines, () => seen.push(i)))
    ends[index]!()
    ends[index]!()
    await expect.poll(() => seen).toEqual([0, 1, 2].filter((i) => i !== index))
  })

  test('keep nothing of the context that they began in', async () => {
    const storage = new AsyncLocalStorage<string>()
    const seen: unknown[] = []
    const deadlines = new Deadlines(20)
    storage.run('of one request', () => begin(deadlines, () => seen.push(storage.getStore())))
    await expect.poll(() => seen).toEqual([undefined])
  })

  test('go on when all have ended, and when one that is given up begins another', async () => {
    const seen: string[] = []
    const deadlines = new Deadlines(20)
    begin(deadlines, () => seen.push('ended'))()
    begin(deadlines, () => {
      seen.push('first')
      begin(deadlines, () => seen.push('second'))
    })
    await expect.poll(() => seen).toEqual(['first', 'second'])
  })

  test('keep no process alive', () => {
    const before = process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
    begin(new Deadlines(60_000), () => {})
    expect(process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length).toBe(before)
  })
})
