import { expect, test } from 'vitest'
import { Declarations, type Runner } from '../../../../plugins/shared/work/declarations.ts'

interface Thing {
  readonly name: string
}

class Recorder implements Runner<Thing> {
  readonly runs = new Set<string>()
  readonly server: object | undefined
  readonly #begin: (thing: Thing) => void | Promise<void>
  isFit: (thing: Thing) => boolean = () => true

  constructor(begin: (thing: Thing) => void | Promise<void> = () => {}, server?: object) {
    this.#begin = begin
    this.server = server
  }

  takes(thing: Thing): boolean {
    return this.isFit(thing)
  }

  async adopt(thing: Thing): Promise<void> {
    await this.#begin(thing)
    this.runs.add(thing.name)
  }

  drop({ name }: Thing): void {
    this.runs.delete(name)
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
  const slow = new Recorder(() => new Promise((_resolve, reject) => ends.push(reject)))
  return { slow, fail: (why: string) => ends.pop()!(new Error(why)) }
}
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

test('each runner runs every thing that it takes, and no other', async () => {
  const all = make()
  const [picky, first, second] = [new Recorder(), new Recorder(), new Recorder()]
  picky.isFit = ({ name }) => name === 'b'
  await all.add(a)
  for (const runner of [picky, first, second]) await all.open(runner)
  await all.add(b)
  const runs = () => [picky, first, second].map((runner) => [...runner.runs])
  expect(runs()).toEqual([['b'], ['a', 'b'], ['a', 'b']])
  picky.isFit = () => true
  await all.takeFree(picky)
  expect(runs()[0]).toEqual(['b', 'a'])
  await all.remove(b)
  expect(runs()).toEqual([['a'], ['a'], ['a']])
})

test('a runner that has joined runs later things only; one that has left runs no more', async () => {
  const [all, runner, other] = [make(), new Recorder(), new Recorder()]
  await all.add(a)
  all.join(runner)
  await all.add(b)
  expect([...runner.runs]).toEqual(['b'])
  all.replace(runner, other)
  await all.remove(b)
  expect([...runner.runs]).toEqual(['b'])
  all.leave(other)
  await all.add(b)
  expect([...other.runs]).toEqual([])
})

test('what a server owns is run by that server alone, until it is forgotten', async () => {
  const [all, here, there] = [make(), {}, {}]
  const [first, second, script] = [new Recorder(undefined, here), new Recorder(undefined, there), new Recorder()]
  for (const runner of [first, second, script]) await all.open(runner)
  await all.add(a, here)
  await all.add(b)
  expect([first, second, script].map(({ runs }) => [...runs])).toEqual([['a', 'b'], ['b'], ['b']])
  expect([here, there, undefined].map((server) => all.of(server))).toEqual([[a, b], [b], [b]])
  all.forget(here)
  expect(all.all).toEqual([b])
})

test.each([
  ['throws', fails],
  ['rejects', () => Promise.reject(new Error('no'))],
])('a runner that %s at once takes what it refuses out of the declarations, and may be asked again', async (_, begin) => {
  let isFit = false
  const [all, runner] = [make(), new Recorder(() => (isFit ? undefined : begin()))]
  await all.open(runner)
  await expect(all.add(a)).rejects.toThrow('no')
  expect(all.all).toEqual([])
  isFit = true
  await all.add(a)
  expect([...runner.runs]).toEqual(['a'])
})

test('a runner that refuses a waiting declaration learns that when it opens, and the declaration still waits', async () => {
  const [all, unfit] = [make(), new Recorder(({ name }) => (name === 'a' ? fails() : undefined))]
  await all.add(a)
  await all.add(b)
  await expect(all.open(unfit)).rejects.toThrow('no')
  expect([...unfit.runs]).toEqual(['b'])
  all.leave(unfit)
  const next = new Recorder()
  await all.open(next)
  expect([...next.runs]).toEqual(['a', 'b'])
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
  void all.remove(a)
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
  await all.remove(a)
  await all.add(a)
  await all.open(new Recorder())
  report()
  expect(reported).toEqual(['a'])
  all.leave(all.runners[0]!)
  report()
  expect(reported).toEqual(['a', 'a'])
})
