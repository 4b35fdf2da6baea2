import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { withTypeScript } from '../../../test/support/typescript-process.ts'
import { hottest } from './hottest.ts'
import { measure } from './measure.ts'
import { makeServer, type Variant, variants } from './server.ts'

const names = Object.keys(variants) as Variant[]

// What is measured starts in a third of the time.
beforeAll(() => void vi.stubEnv('NODE_OPTIONS', withTypeScript.join(' ')))
afterAll(() => void vi.unstubAllEnvs())

test.each(names)('%s lists 100 books', async (variant) => {
  await using server = makeServer(variant)
  const res = await server.inject.get('/books')
  expect(res.assertStatus(200).body<unknown[]>()).toHaveLength(100)
})

test('what the schema does not name does not leave, and is not paid for', async () => {
  const bytes = async (variant: Variant) => {
    await using server = makeServer(variant)
    return (await server.inject.get('/books')).raw().length
  }
  expect(await bytes('schema')).toBeLessThan((await bytes('plain')) / 2)
})

test('a measurement has the cost of each variant, and compares it with the first', async () => {
  const program = new URL('./serve.ts', import.meta.url)
  const results = await measure({ program, variants: ['plain', 'schema'], path: '/books', rounds: 1, seconds: 0.1 })
  expect(results.map(({ variant }) => variant)).toEqual(['plain', 'schema'])
  for (const { cpu } of results) expect(cpu).toBeGreaterThan(0)
  expect(results[0]!.ratio).toBe(1)
})

test('a response that is not a success ends it', async () => {
  const program = new URL('./serve.ts', import.meta.url)
  const plan = { program, variants: ['plain'], path: '/nothing', rounds: 1, seconds: 0.1 }
  await expect(measure(plan)).rejects.toThrow('404')
})

test('a profile is read as a list of functions, without idle time', () => {
  const node = (id: number, functionName: string, url = '', lineNumber = 0) => ({
    id,
    callFrame: { functionName, url, lineNumber },
  })
  const nodes = [node(1, '(idle)'), node(2, 'list', 'file:///shop.js', 6), node(3, '(garbage collector)'), node(4, '')]
  const profile = { nodes, samples: [1, 2, 3, 2, 4], timeDeltas: [1000, 30, 40, 20, 10] }
  expect(hottest(profile, 3)).toEqual([
    { place: 'list file:///shop.js:7', percent: 50 },
    { place: '(garbage collector)', percent: 40 },
    { place: '(anonymous)', percent: 10 },
  ])
})
