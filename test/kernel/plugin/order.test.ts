import { definePlugin, type Registration } from 'framework/kernel'
import { describe, expect, test } from 'vitest'
import { makeKernel } from '../../support/kernel.ts'

function recorder() {
  const booted: string[] = []
  const make = (name: string, dependencies: string[] = [], children: () => Registration[] = () => []) =>
    definePlugin({
      name,
      dependencies,
      async setup(ctx) {
        booted.push(name)
        await Promise.resolve()
        for (const child of children()) ctx.register(child)
      },
    })()
  return { booted, make }
}

describe('boot order', () => {
  test('is the order of registration, depth first', async () => {
    const { booted, make } = recorder()
    const { kernel } = makeKernel()
    kernel.register(make('a', [], () => [make('a1', [], () => [make('a1x')]), make('a2')]))
    kernel.register(make('b'))
    await kernel.ready()
    expect(booted).toEqual(['a', 'a1', 'a1x', 'a2', 'b'])
  })

  test('puts a plugin after its dependencies, and keeps the others in place', async () => {
    const { booted, make } = recorder()
    const { kernel } = makeKernel()
    for (const one of [make('first', ['last']), make('second'), make('last'), make('fourth')]) kernel.register(one)
    await kernel.ready()
    expect(booted).toEqual(['second', 'last', 'first', 'fourth'])
  })

  test('holds for every shuffle of a valid list', async () => {
    const needs: Record<string, string[]> = {
      a: [],
      b: ['a'],
      c: ['a'],
      d: ['b', 'c'],
      e: [],
      f: ['d', 'e'],
      g: ['f', 'a'],
    }
    let seed = 7
    const random = () => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
      return seed / 2_147_483_648
    }
    for (let round = 0; round < 100; round++) {
      const { booted, make } = recorder()
      const { kernel } = makeKernel()
      const names = Object.keys(needs).sort(() => random() - 0.5)
      for (const name of names) kernel.register(make(name, needs[name]))
      await kernel.ready()
      expect([...booted].sort()).toEqual(Object.keys(needs))
      for (const [name, before] of Object.entries(needs)) {
        for (const other of before) expect(booted.indexOf(other)).toBeLessThan(booted.indexOf(name))
      }
    }
  })

  test('accepts a dependency that an earlier sibling registers itself', async () => {
    const { booted, make } = recorder()
    const { kernel } = makeKernel()
    kernel.register(make('session', [], () => [make('cookie')]))
    kernel.register(make('user', ['cookie']))
    await kernel.ready()
    expect(booted).toEqual(['session', 'cookie', 'user'])
  })

  test('runs once however often ready is called', async () => {
    const { booted, make } = recorder()
    const { kernel } = makeKernel()
    kernel.register(make('a'))
    await Promise.all([kernel.ready(), kernel.ready(), kernel.inject({ url: '/' })])
    await kernel.ready()
    expect(booted).toEqual(['a'])
  })
})
