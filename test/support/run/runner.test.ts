import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'

interface Outcome {
  passed: number
  failed: number
  skipped: number
  note?: string
}

/** The runner is plain JavaScript, because it must start on a Node that cannot strip types. */
async function load<T>(file: string): Promise<T> {
  return (await import(new URL(file, import.meta.url).href)) as T
}

interface Steps {
  step(
    name: string,
    run: (print: (text: string) => void) => Promise<Outcome>,
    options?: { shows?: boolean },
  ): Promise<Outcome>
  print(order: string[]): void
}

const { finalLine, Summary } = await load<{ finalLine(totals: Outcome): string; Summary: new () => Steps }>(
  './summary.mjs',
)
const { countReport } = await load<{ countReport(report: object, code: number, root: string): Outcome }>('./tools.mjs')
const { parseArguments, inTurns } = await load<{
  inTurns(steps: string[], long?: boolean): string[][]
  parseArguments(argv: string[]): { steps: string[]; vitest: string[]; seed: number; long: boolean }
}>('./selection.mjs')
const { isInstalled } = await load<{ isInstalled(folder: string): boolean }>('./runtimes.mjs')

test('the last line names what was skipped only when something was', () => {
  expect(finalLine({ passed: 3, failed: 0, skipped: 0 })).toBe('3 passed, 0 failed')
  expect(finalLine({ passed: 0, failed: 1, skipped: 2 })).toBe('0 passed, 1 failed, 2 skipped')
})

test('steps run side by side: the output of each is whole, and comes after that of a step that shows its own', async () => {
  const lines: string[] = []
  vi.spyOn(console, 'log').mockImplementation((line = '') => void lines.push(...String(line).trim().split('\n')))
  onTestFinished(() => void vi.restoreAllMocks())
  const summary = new Summary()
  const ok = { passed: 1, failed: 0, skipped: 0 }
  const ends: (() => void)[] = []
  const ended = () => new Promise<void>((resolve) => ends.push(resolve))
  const steps = [
    summary.step('types', async (print) => {
      print('a.ts')
      await ended()
      print('b.ts')
      return { ...ok, passed: 0, failed: 1 }
    }),
    summary.step('lint', () => Promise.reject(new Error('no such tool'))),
    summary.step('tests', () => ended().then(() => ok), { shows: true }),
  ]
  await steps[1]
  ends[0]!()
  await steps[0]
  expect(lines).toEqual(['▶ types', '▶ lint', '▶ tests'])
  ends[1]!()
  await Promise.all(steps)
  const said = lines.slice(3).filter((line) => !line.startsWith('    at '))
  expect(said.map((line) => line.replace(/[\d.]+ s/, 'n s'))).toEqual([
    '✗ lint (n s) no such tool',
    'Error: no such tool',
    ...['✗ types (n s)', 'a.ts', 'b.ts'],
    '✓ tests (n s)',
  ])
  lines.length = 0
  summary.print(['types', 'lint', 'tests'])
  expect(lines.map((line) => line.split(/ +/).slice(0, 2).join(' '))).toEqual([
    '',
    '✗ types',
    '✗ lint',
    '✓ tests',
    expect.stringMatching(/^total /),
  ])
})

describe('the count of the tests', () => {
  const file = (status: string, ...statuses: string[]) => ({
    name: '/r/a.test.ts',
    status,
    assertionResults: statuses.map((each) => ({ status: each })),
  })
  const count = (code: number, ...files: object[]) => countReport({ testResults: files }, code, '/r')

  test('goes over every single test', () => {
    expect(count(1, file('failed', 'passed', 'failed', 'pending', 'todo'), file('passed', 'passed'))).toMatchObject({
      passed: 2,
      failed: 1,
      skipped: 2,
    })
  })

  test('takes a file that fails outside its tests for a failure', () => {
    expect(count(1, file('failed'))).toMatchObject({ passed: 0, failed: 1 })
    expect(count(1, file('failed', 'passed'))).toMatchObject({ passed: 1, failed: 1 })
  })

  test('takes an exit code without a failed test, and a run without any test, for a failure', () => {
    expect(count(1, file('passed', 'passed'))).toMatchObject({ passed: 1, failed: 1 })
    expect(count(1)).toMatchObject({ passed: 0, failed: 1 })
    expect(count(0)).toMatchObject({ passed: 0, failed: 0, note: 'nothing has changed' })
    expect(count(0, file('passed', 'pending'))).toMatchObject({ passed: 0, failed: 1, skipped: 1 })
  })
})

describe('the choice of parts', () => {
  test('is everything unless something is named', () => {
    expect(parseArguments([])).toMatchObject({
      steps: ['runtimes', 'services', 'build', 'site', 'types', 'lint', 'install', 'oldest', 'tests'],
      vitest: [],
    })
  })

  test('brings the steps that a part needs, in their order', () => {
    expect(parseArguments(['--only', 'package,lint'])).toMatchObject({
      steps: ['build', 'lint', 'tests'],
      vitest: ['test/package'],
    })
    expect(parseArguments(['--only=lint', '--only', 'types'])).toMatchObject({
      steps: ['types', 'lint', 'tests'],
      vitest: ['test/types/'],
    })
  })

  test('runs what the tests need first, and the other checks beside the tests', () => {
    expect(inTurns(parseArguments([]).steps)).toEqual([
      ['runtimes', 'services', 'build', 'site'],
      ['types', 'lint', 'install', 'oldest', 'tests'],
    ])
    expect(inTurns(['lint'])).toEqual([[], ['lint']])
    expect(inTurns(parseArguments(['--long']).steps, true)).toEqual([
      ['runtimes', 'services', 'build', 'site'],
      ['tests'],
      ['oldest'],
    ])
  })

  test('leaves the other groups out of the unit tests', () => {
    const { steps, vitest } = parseArguments(['--only', 'unit,architecture'])
    expect(steps).toEqual(['tests'])
    expect(vitest).toContain('test/package**')
    expect(vitest).not.toContain('test/architecture.test.ts')
  })

  test('names what no path contains', () => {
    expect(() => parseArguments(['queues', 'nosuchplugin'])).toThrow(
      'No test file has "nosuchplugin" in its path. Give a',
    )
    expect(() => parseArguments(['test/package.long'])).toThrow('npm run test:long -- test/package.long runs those')
    expect(() => parseArguments(['--long', 'nowhere'])).toThrow('No long test file has "nowhere"')
    expect(parseArguments(['./test/package.test.ts:3', '--seed', '1']).vitest).toEqual(['./test/package.test.ts:3'])
  })

  test('is what belongs to a plugin, or what a change touches', () => {
    expect(parseArguments(['queues', 'cron'])).toMatchObject({
      steps: ['runtimes', 'services', 'build', 'tests'],
      vitest: ['test/plugins/queues/', 'test/plugins/cron/'],
    })
    expect(parseArguments(['--changed']).vitest).toContain('--changed')
    expect(() => parseArguments(['--changed', 'queues'])).toThrow('not several')
  })

  test('leaves the long tests to a run of their own', () => {
    expect(parseArguments([])).toMatchObject({ long: false })
    expect(parseArguments(['--long', 'soak'])).toMatchObject({ long: true, vitest: ['soak'] })
    expect(() => parseArguments(['--long', '--only', 'unit'])).toThrow('neither --only')
  })

  test('repeats an order by its seed', () => {
    expect(parseArguments(['--seed', '12']).seed).toBe(12)
    expect(parseArguments(['--seed=13']).seed).toBe(13)
    expect(() => parseArguments(['--seed', 'x'])).toThrow('needs a number')
    expect(parseArguments([]).seed).toEqual(expect.any(Number))
  })

  test('passes file filters on and refuses what it does not know', () => {
    expect(parseArguments(['test/kernel'])).toMatchObject({
      steps: ['runtimes', 'services', 'build', 'tests'],
      vitest: ['test/kernel'],
    })
    expect(() => parseArguments(['--only', 'nothing'])).toThrow('no part "nothing"')
    expect(() => parseArguments(['--only'])).toThrow('needs the name')
    expect(() => parseArguments(['--fast'])).toThrow('Unknown option')
    expect(() => parseArguments(['--only', 'unit', 'test/kernel'])).toThrow('not several')
  })
})

test('an installation counts when it is what the lock file asks for', () => {
  const folder = mkdtempSync(join(tmpdir(), 'framework-installed-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const lock = (file: string, packages: object) => writeFileSync(join(folder, file), JSON.stringify({ packages }))
  const a = { version: '1.0.0', integrity: 'x' }
  const wanted = { '': {}, 'node_modules/a': a, 'node_modules/other-platform': { ...a, optional: true } }

  lock('package-lock.json', wanted)
  expect(isInstalled(folder)).toBe(false)
  mkdirSync(join(folder, 'node_modules/a'), { recursive: true })
  lock('node_modules/.package-lock.json', { 'node_modules/a': a })
  expect(isInstalled(folder)).toBe(true)
  lock('node_modules/.package-lock.json', { 'node_modules/a': { ...a, version: '1.0.1' } })
  expect(isInstalled(folder)).toBe(false)
  lock('node_modules/.package-lock.json', { 'node_modules/a': a, 'node_modules/left-over': a })
  expect(isInstalled(folder)).toBe(false)
  lock('node_modules/.package-lock.json', {})
  expect(isInstalled(folder)).toBe(false)
})
