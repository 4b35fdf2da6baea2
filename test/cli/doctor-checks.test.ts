import { definePlugin, Server } from 'framework'
import { afterEach, expect, test, vi } from 'vitest'
import { Examination } from '../../cli/doctor/examine.ts'

afterEach(() => void vi.useRealTimers())

const check = (code: string, find: () => unknown) => ({ code: `odd.${code}`, level: 'error', find })

async function findingsOf(doctor: () => unknown, ...failures: readonly unknown[]): Promise<string[]> {
  const odd = definePlugin({ name: 'odd', doctor: doctor as never, setup() {} })
  const server = new Server({ plugins: [odd] })
  const view = { folder: '/', file: '/server.ts', production: false, server, booted: false }
  vi.useFakeTimers()
  const examination = new Examination()
  examination.lookAtProject(view)
  const asked = examination.askPlugins(view, true)
  await vi.advanceTimersByTimeAsync(20_000)
  await asked
  for (const failure of failures) examination.fails(failure)
  return examination.found.map(({ level, code, problem, remedy }) => `${level} ${code}: ${problem}. ${remedy}`)
}

test('an invalid finding is reported with its check, and never left out', async () => {
  const checks = [
    check('null', () => null),
    check('text', () => 'nonsense'),
    check('empty', () => ({})),
    check('fatal', () => ({ problem: 'p', remedy: 'r', level: 'fatal' })),
    check('throws-null', () => {
      throw null
    }),
    check('good', () => ({ problem: 'p', remedy: 'r' })),
  ]
  const form = 'a finding must have the strings problem and remedy. Report it to its author'
  expect(await findingsOf(async () => checks)).toEqual([
    'error odd.good: p. r',
    `warning doctor.check-failed: odd.null failed: ${form}`,
    `warning doctor.check-failed: odd.text failed: ${form}`,
    `warning doctor.check-failed: odd.empty failed: ${form}`,
    'warning doctor.check-failed: odd.fatal failed: the level of a finding must be one of error, warning, hint. Report it to its author',
    'warning doctor.check-failed: odd.throws-null failed: null. Report it to its author',
  ])
})

test('checks that cannot be used leave the other plugins theirs', async () => {
  const unusable = (why: string) => [
    `warning doctor.check-failed: the checks of the plugin "odd" cannot be used: ${why}. Report it to the author of the plugin`,
  ]
  const thrown = () => Promise.reject(null)
  expect(await findingsOf(thrown)).toEqual(unusable('null'))
  expect(await findingsOf(() => ({}))).toEqual(unusable('doctor of a definition must return a list of checks'))
  expect(await findingsOf(async () => [null])).toEqual(
    unusable('a check has the code undefined; it takes "<plugin>.<what-is-wrong>"'),
  )
  expect(await findingsOf(() => new Promise(() => {}))).toEqual(unusable('no response within 5 s'))
})

test('a check that never settles is given up', async () => {
  expect(await findingsOf(async () => [check('hangs', () => new Promise(() => {}))])).toEqual([
    'warning doctor.check-failed: odd.hangs failed: no response within 5 s. Report it to its author',
  ])
})

test('a boot that fails with null is a finding', async () => {
  const [found] = await findingsOf(async () => [], null)
  expect(found).toMatch(/^error application\.fails: null\. /)
})

test('no finding shows the password of an address, nor sends an escape sequence to the terminal', async () => {
  const find = () => ({ problem: 'postgres://me:hunter2@db/x and redis://:hunter2@r', remedy: '\u001b[2J\u009b31m\r' })
  expect(await findingsOf(async () => [check('far', find)])).toEqual([
    'error odd.far: postgres://me:***@db/x and redis://:***@r. \\x1b[2J\\x9b31m\\x0d',
  ])
})
