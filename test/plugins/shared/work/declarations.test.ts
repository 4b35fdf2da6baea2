import { expect, test } from 'vitest'
import { Declarations, type Runner } from '../../../../plugins/shared/work/declarations.ts'

interface Thing {
  readonly name: string
}

class Recorder implements Runner<Thing> {
  readonly runs = new Set<string>()
  readonly refusals: unknown[] = []
  readonly #takes: (thing: Thing) => boolean
  readonly #begin: (thing: Thing) => void | Promise<void>

  constructor(takes: (thing: Thing) => boolean = () => true, begin: (thing: Thing) => void | Promise<void> = () => {}) {
    this.#takes = takes
    this.#begin = begin
  }

  takes(thing: Thing): boolean {
    return this.#takes(thing)
  }

  async adopt(thing: Thing): Promise<void> {
    await this.#begin(thing)
    this.runs.add(thing.name)
  }

  refused({ name }: Thing, error: unknown): void {
    this.refusals.push([name, (error as Error).message])
  }
}

const make = () => new Declarations<Thing, Recorder>()
const [a, b]: [Thing, Thing] = [{ name: 'a' }, { name: 'b' }]
const fails = () => {
  throw new Error('no')
}
/** A runner that begins unless it must refuse. */
function beginner() {
  const ends: ((error: Error) => void)[] = []
  const slow = new Recorder(undefined, () => new Promise((_resolve, reject) => ends.push(reject)))
  return { slow, fail: (why: string) => ends.pop()!(new Error(why)) }
}
/** Waits for work that is not awaited. */
const settled = () => new Promise((resolve) => setImmediate(resolve))

test('an earlier declaration waits for a runner, a later one runs at once', async () => {
  const [all, runner] = [make(), new Recorder()]
  await all.add(a)
  expect(runner.runs).toEqual(new Set())
  await all.open(runner)
  expect(runner.runs).toEqual(new Set(['a']))
  await all.add(b)
  expect(runner.runs).toEqual(new Set(['a', 'b']))
  expect(all.all).toEqual([a, b])
})

test('each thing runs in one runner: the oldest that takes it', async () => {
  const all = make()
  const [picky, first, second] = [new Recorder(({ name }) => name === 'b'), new Recorder(), new Recorder()]
  await all.add(a)
  await all.open(picky)
  await all.open(first)
  await all.open(second)
  await all.add(b)
  expect(all.runners).toEqual([picky, first, second])
  expect([picky, first, second].map(({ runs }) => [...runs])).toEqual([['b'], ['a'], []])
})

test('when a runner leaves, the next one takes over its declarations; without one it waits', async () => {
  const [all, first, second] = [make(), new Recorder(), new Recorder()]
  await all.add(a)
  await all.open(first)
  await all.open(second)
  all.leave(first)
  all.leave(first)
  await settled()
  expect([...second.runs]).toEqual(['a'])
  all.leave(second)
  expect(all.has(a)).toBe(true)
  const third = new Recorder()
  await all.open(third)
  expect([...third.runs]).toEqual(['a'])
})

test('the runner that is to end a thing is given back when that is taken back, once', async () => {
  const [all, runner] = [make(), new Recorder()]
  await all.add(a)
  expect(all.remove(a)).toBeUndefined()
  await all.open(runner)
  await all.add(a)
  expect(all.remove(a)).toBe(runner)
  expect(all.remove(a)).toBeUndefined()
  expect(all.has(a)).toBe(false)
})

test.each([
  ['throws', fails],
  ['rejects', () => Promise.reject(new Error('no'))],
])('a runner that %s at once takes what it refuses out of the declarations, and may be asked again', async (_, begin) => {
  let isFit = false
  const [all, runner] = [make(), new Recorder(undefined, () => (isFit ? undefined : begin()))]
  await all.open(runner)
  await expect(all.add(a)).rejects.toThrow('no')
  expect(all.all).toEqual([])
  isFit = true
  await all.add(a)
  expect([...runner.runs]).toEqual(['a'])
})

test('a runner that refuses a waiting declaration learns that when it opens, and the declaration still waits', async () => {
  const [all, unfit] = [make(), new Recorder(undefined, ({ name }) => (name === 'a' ? fails() : undefined))]
  await all.add(a)
  await all.add(b)
  await expect(all.open(unfit)).rejects.toThrow('no')
  expect([...unfit.runs]).toEqual(['b'])
  all.leave(unfit)
  const next = new Recorder()
  await all.open(next)
  expect([...next.runs]).toEqual(['a', 'b'])
})

test('a runner that refuses a declaration of another is notified, and the declaration waits for the next', async () => {
  const [all, first, unfit, third] = [make(), new Recorder(), new Recorder(undefined, fails), new Recorder()]
  await all.open(first)
  await all.add(a)
  await all.open(unfit)
  all.leave(first)
  await settled()
  expect(unfit.refusals).toEqual([['a', 'no']])
  await all.open(third)
  expect([...third.runs]).toEqual(['a'])
})

test('a thing whose runner leaves while it begins is not lost when that fails', async () => {
  const { slow, fail } = beginner()
  const [all, next] = [make(), new Recorder()]
  await all.open(slow)
  const added = all.add(a)
  all.leave(slow)
  fail('it has left')
  await added
  await all.open(next)
  expect([...next.runs]).toEqual(['a'])
})

test('a thing that is taken back while it begins stays taken back', async () => {
  const { slow, fail } = beginner()
  const all = make()
  await all.open(slow)
  const added = all.add(a)
  expect(all.remove(a)).toBe(slow)
  await Promise.all([expect(added).rejects.toThrow('over'), Promise.resolve(fail('over'))])
  expect(all.has(a)).toBe(false)
})

test('a declaration without a runner is reported once, and again when it was declared anew', async () => {
  const all = make()
  const reported: string[] = []
  const report = () => all.reportIdle(({ name }) => reported.push(name))
  await all.add(a)
  report()
  report()
  expect(reported).toEqual(['a'])
  all.remove(a)
  await all.add(a)
  await all.open(new Recorder())
  report()
  expect(reported).toEqual(['a'])
  all.leave(all.runners[0]!)
  report()
  expect(reported).toEqual(['a', 'a'])
})

test('a declaration that the next runner refuses goes to the one after it', async () => {
  const all = make()
  let isOpen = true
  const [first, third] = [new Recorder(), new Recorder()]
  const second = new Recorder(undefined, () => {
    if (!isOpen) fails()
  })
  await all.add(a)
  for (const runner of [first, second, third]) await all.open(runner)
  isOpen = false
  all.leave(first)
  await settled()
  expect([second.refusals, [...third.runs]]).toEqual([[['a', 'no']], ['a']])
  expect(all.remove(a)).toBe(third)
})
