import { describe, expect, test } from 'vitest'
import { goals } from '../../benchmarks/goals.ts'
import { microReport } from '../../benchmarks/micro/measure.ts'
import { chooseSuites } from '../../benchmarks/settings.ts'
import { growthPictures } from '../../benchmarks/support/picture.ts'
import { mergePart, replacePart, tablesOf } from '../../benchmarks/support/results.ts'
import { findRuntime } from '../../benchmarks/support/runtime.ts'
import { goalsIn, summary } from '../../benchmarks/support/summary.ts'
import { isWanted } from '../../benchmarks/support/wanted.ts'

const part = `# Requests on Node 24

- a machine

## Hello

A note.

| server | CPU µs/req | × framework | × fastify |
| --- | --: | --: | --: |
| framework | 10.00 | 1.00 | 1.50 |
| raw | 9.00 | 1.11 | 1.67 |
| fastify | 15.00 | 0.67 | 1.00 |
`

test('a part of the results takes the place of the one before, and leaves the others', () => {
  const file = '# Results\n\n- 1\n\n## Hello\n\n# Types\n\n- 2\n'
  expect(replacePart(file, '# Types\n\n- 3\n')).toBe('# Results\n\n- 1\n\n## Hello\n\n# Types\n\n- 3\n')
  expect(replacePart(file, '# Results\n\n- 4\n')).toBe('# Results\n\n- 4\n\n# Types\n\n- 2\n')
  expect(replacePart('# Results\n', '# Types\n')).toBe('# Results\n\n# Types\n')
})

test('a section of a part takes the place of the one before, and leaves the others of the part and the other parts', () => {
  const file = '# A\n\n- 1\n\n## One\n\n1\n\n## Two\n\n2\n\n# B\n\n- 2\n\n## One\n\nx\n'
  expect(mergePart(file, '# A\n\n- 3\n\n## Two\n\n22\n\n## Three\n\n3\n')).toBe(
    '# A\n\n- 3\n\n## One\n\n1\n\n## Two\n\n22\n\n## Three\n\n3\n\n# B\n\n- 2\n\n## One\n\nx\n',
  )
  expect(mergePart('# A\n', '# B\n\n## One\n')).toBe('# A\n\n# B\n\n## One\n')
})

test('the tables of a part are read by row and column', () => {
  const table = tablesOf(part).get('Hello')
  expect([...(table?.keys() ?? [])]).toEqual(['framework', 'raw', 'fastify'])
  expect(table?.get('framework')?.get('× fastify')).toBe('1.50')
})

describe('the summary', () => {
  const goal = { table: 'Hello', row: 'framework', against: 'fastify' }

  test('says which goals are held, missed and not measured', () => {
    const text = summary(
      [
        { ...goal, ratio: 1.5 },
        { ...goal, ratio: 2 },
        { ...goal, table: 'Other', ratio: 1 },
      ],
      part,
    )
    expect(text).toContain('| Hello: framework to fastify | 1.50 | 1.50 | held |')
    expect(text).toContain('| Hello: framework to fastify | 2.00 | 1.50 | **missed by 25 %** |')
    expect(text).toContain('| Other: framework to fastify | 1.00 | – | not measured |')
  })

  test('of a run has the goals of its own tables alone, and no table where it has none', () => {
    const own = goalsIn(part, [
      { ...goal, ratio: 1.5 },
      { ...goal, table: 'Other', ratio: 1 },
    ])
    expect(own).toEqual([{ ...goal, ratio: 1.5 }])
    expect(summary([], part)).toMatch(/^## Goals\n\nCheaper than the framework/)
  })

  test('names the servers that are cheaper than the framework', () => {
    expect(summary([], part)).toContain('- Hello: raw 1.11\n')
    const variant = '| server | × framework | × framework, jit |\n| --- | --: | --: |\n| raw, jit | 2.00 | 0.90 |'
    expect(summary([], `# A\n\n## B\n\n${variant}\n`)).toContain('Nothing in these tables is cheaper')
    expect(summary([], part.replace(/\| raw.*\n/, ''))).toContain('Nothing in these tables is cheaper')
  })

  test('names the cheaper hand-written cases in a table of suites in process', () => {
    const rows = '| hit: by hand | 8 | 1.00 |\n| hit: framework | 10 | 0.80 |\n| miss: framework | 10 | 1.10 |'
    const text = summary([], `# A\n\n## Cache\n\n| case | ns | × by hand |\n| --- | --: | --: |\n${rows}\n`)
    expect(text).toContain('- Cache: hit: by hand 1.25\n')
  })

  test('is given goals for the runtimes that have some', () => {
    expect(Object.keys(goals)).toEqual(['Node 20', 'Node 24', 'Node 26', 'Bun', 'Deno'])
  })
})

describe('a table of services', () => {
  const suite = { title: 'Service', reference: 'by hand', services: ['redis-server'] } as const
  const report = microReport(suite, [
    { group: 'hit, memory', name: 'by hand', cost: [1000, 1000], wall: [1000, 1000] },
    { group: 'hit, memory', name: 'framework', cost: [1250, 1250], wall: [2000, 2000] },
    { group: 'hit, Redis', name: 'redis-server is missing', cost: [], wall: [] },
  ])

  test('has the time on the clock beside the CPU time', () => {
    expect(report).toContain('| case | ns | IQR | × by hand | wall ns | wall × by hand |')
    expect(report).toContain('| hit, memory: framework | 1250 | 0 % | 0.80 | 2000 | 0.50 |')
  })

  test('names the server that is missing', () => {
    expect(report).toContain('| hit, Redis: redis-server is missing | – | – | – | – | – |')
  })

  test('is one of those that one word selects', () => {
    const node = findRuntime('node')
    expect(chooseSuites(['services'], node)).toEqual(
      expect.arrayContaining(['queues', 'cache', 'upload', 'static-file']),
    )
    expect(() => chooseSuites(['service'], node)).toThrow('There is no suite "service"')
  })
})

test('the Node.js of this process has the title of its version', () => {
  const { kind, title, version } = findRuntime('node')
  expect({ kind, title, version }).toEqual({
    kind: 'node',
    title: `Node ${process.versions.node.split('.')[0]}`,
    version: process.versions.node,
  })
  expect(() => findRuntime('node99')).toThrow('--runtime node99: it cannot be started')
})

test('a server that is asked for comes with its variants', () => {
  expect(
    ['framework', 'framework, jit', 'fastify', 'fastify.inject'].map((name) => isWanted(name, ['framework'])),
  ).toEqual([true, true, false, false])
  expect(isWanted('framework, jit', ['framework, jit'])).toBe(true)
  expect(isWanted('framework', ['framework, jit'])).toBe(false)
  expect(isWanted('anything', undefined)).toBe(true)
})

test('what grows is drawn by size, the framework first', () => {
  const pictures = growthPictures(`# Requests on Node 24

## Growth: 10, 1000 and 10 000 routes, up to 1000 of them in turn

| server | CPU µs/req | IQR |
| --- | --: | --: |
| fastify, 10 routes | 20.00 | 1 % |
| framework, 10 000 routes | 12.50 | 1 % |
| framework, 10 routes | 10.00 | 1 % |
`)
  expect([...pictures.keys()]).toEqual(['growing-routes'])
  const texts = [...pictures.get('growing-routes')!.matchAll(/>([^<>]+)<\/text>/g)].map(([, text]) => text)
  expect(texts).toEqual([
    'framework',
    '10 routes',
    '10 µs',
    '10 000 routes',
    '12.5 µs',
    'fastify',
    '10 routes',
    '20 µs',
  ])
})
