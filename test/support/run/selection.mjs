import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { globSync } from 'tinyglobby'

/**
 * @typedef {object} Selection
 * @property {boolean} help
 * @property {string[]} steps In the order in which they run.
 * @property {string[]} vitest Arguments for vitest: file filters and exclusions.
 * @property {number} seed Of the order in which the test files run.
 * @property {boolean} long Whether the long tests run, and only they.
 *
 * @typedef {object} Part
 * @property {string[]} steps
 * @property {string[]} files File filters of vitest.
 */

/** The steps, as the table at the end lists them. */
const order = ['runtimes', 'services', 'build', 'site', 'types', 'lint', 'install', 'oldest', 'tests']

/** What the tests need. */
const preparation = ['runtimes', 'services', 'build', 'site']

/**
 * The steps that run first, side by side, and those that run side by side after them. In the long run both suites take many minutes, and one at a
 * time what has a limit of time keeps it.
 *
 * @param {string[]} steps
 * @param {boolean} [long]
 */
export function inTurns(steps, long = false) {
  const isFirst = (/** @type {string} */ name) => preparation.includes(name)
  const isLast = (/** @type {string} */ name) => long && name === 'oldest'
  return [
    steps.filter(isFirst),
    steps.filter((name) => !isFirst(name) && !isLast(name)),
    ...(steps.some(isLast) ? [steps.filter(isLast)] : []),
  ]
}

/**
 * Slow or special groups; `unit` is whatever none of them claims.
 *
 * @type {Map<string, Part>}
 */
const groups = new Map([
  ['architecture', { steps: ['tests'], files: ['test/architecture.test.ts'] }],
  ['types', { steps: ['types', 'tests'], files: ['test/types/'] }],
  ['package', { steps: ['build', 'tests'], files: ['test/package'] }],
  ['conformance', { steps: ['runtimes', 'build', 'tests'], files: ['test/conformance/', 'test/runtimes/'] }],
  ['site', { steps: ['site', 'tests'], files: ['test/site.test.ts'] }],
  ['examples', { steps: ['build', 'tests'], files: ['docs/', 'test/docs', 'test/examples'] }],
])

const single = ['runtimes', 'services', 'build', 'lint', 'install', 'oldest']
const names = [...single, 'unit', ...groups.keys()]

export const usage = `npm test                          everything except the long tests
npm test -- <plugin>…             what belongs to a plugin: npm test -- queues
npm test -- <path>…               only the test files whose path contains one of these
npm test -- --changed             what a change that is not committed touches, by imports, and the examples of its pages
npm test -- --only <part>[,…]     ${names.join(', ')}
npm run test:long [-- <path>…]    the long tests: soak, abuse, kills, newcomers, and everything on the oldest Node.js

--seed <number>                   the order of the files, as an earlier run has printed it`

const root = join(import.meta.dirname, '../../..')

/** @param {string[]} argv @returns {Selection} */
export function parseArguments(argv) {
  /** @type {string[]} */
  const only = []
  /** @type {string[]} */
  const filters = []
  let [help, changed, long] = [false, false, false]
  let seed = Math.floor(Math.random() * 1_000_000)
  const rest = argv.values()
  for (const argument of rest) {
    const [name = '', inline] = argument.split('=')
    const value = () => inline ?? rest.next().value
    if (name === '--help' || name === '-h') help = true
    else if (name === '--only') only.push(...partNames(value()))
    else if (name === '--seed') seed = seedOf(value())
    else if (argument === '--changed') changed = true
    else if (argument === '--long') long = true
    else if (argument.startsWith('-')) throw new Error(`Unknown option "${argument}".`)
    else filters.push(filterOf(argument))
  }
  if ([only.length > 0, filters.length > 0, changed].filter(Boolean).length > 1)
    throw new Error('Give either --only, --changed, or file filters: not several of them.')
  if (long && (only.length > 0 || changed))
    throw new Error('The long tests take file filters, and neither --only nor --changed.')
  checkFilters(filters, long)
  const own = { help, seed, long }
  if (help) return { ...own, steps: [], vitest: [] }
  if (long)
    return {
      ...own,
      steps: ['runtimes', 'services', 'build', 'site', ...(filters.length > 0 ? [] : ['oldest']), 'tests'],
      vitest: filters,
    }
  // A test may use what is built, and a build takes no time if nothing has changed.
  if (filters.length > 0) return { ...own, steps: ['runtimes', 'services', 'build', 'tests'], vitest: filters }
  if (changed)
    return { ...own, steps: ['runtimes', 'services', 'build', 'tests'], vitest: ['--changed', '--passWithNoTests'] }
  if (only.length === 0) return { ...own, steps: order, vitest: [] }
  return { ...own, ...select(only) }
}

/** A misspelt one would be found only after the build, and beside others not at all. @param {string[]} filters @param {boolean} long */
function checkFilters(filters, long) {
  if (filters.length === 0) return
  const files = globSync('{test,docs}/**/*.test.ts', { cwd: root, absolute: true, ignore: '**/node_modules/**' })
  const isLong = (/** @type {string} */ file) => file.endsWith('.long.test.ts')
  const own = files.filter((file) => (long ? isLong(file) || file.includes('/conformance/') : !isLong(file)))
  for (const filter of filters) {
    const path = filter.replace(/^\.\/|:\d+$/g, '')
    if (own.some((file) => file.includes(path))) continue
    const hint = files.some((file) => file.includes(path))
      ? `${long ? 'npm test' : 'npm run test:long'} -- ${filter} runs those that do.`
      : 'Give a plugin, such as queues, or a part of a path, such as test/kernel/routing.'
    throw new Error(`No ${long ? 'long test' : 'test'} file has "${filter}" in its path. ${hint}`)
  }
}

/** A plugin's name stands for its folder. @param {string} argument */
const filterOf = (argument) =>
  existsSync(join(root, 'test/plugins', argument)) ? `test/plugins/${argument}/` : argument

/** @param {string | undefined} value */
function seedOf(value) {
  if (value === undefined || !/^\d+$/.test(value))
    throw new Error('--seed needs a number, which a run prints before its tests.')
  return Number(value)
}

/** @param {string | undefined} value */
function partNames(value) {
  const parts = (value ?? '').split(',').filter(Boolean)
  if (parts.length === 0) throw new Error('--only needs the name of a part.')
  for (const part of parts) {
    if (!names.includes(part)) throw new Error(`There is no part "${part}".`)
  }
  return parts
}

/** @param {string[]} only @returns {Pick<Selection, 'steps' | 'vitest'>} */
function select(only) {
  const unit = only.includes('unit')
  const chosen = [...groups].filter(([name]) => only.includes(name)).map(([, part]) => part)
  const steps = new Set(only.filter((name) => single.includes(name)))
  if (unit) steps.add('tests')
  for (const part of chosen) for (const step of part.steps) steps.add(step)

  // Vitest cannot say "unit or package" with filters alone: with unit, whatever was not chosen is left out instead.
  const vitest = unit
    ? [...groups.values()]
        .filter((part) => !chosen.includes(part))
        .flatMap((part) => part.files)
        .flatMap((path) => ['--exclude', path.endsWith('.ts') ? path : `${path}**`])
    : chosen.flatMap((part) => part.files)
  return { steps: order.filter((step) => steps.has(step)), vitest }
}
