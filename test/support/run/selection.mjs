/**
 * @typedef {object} Selection
 * @property {boolean} help
 * @property {string[]} steps In the order in which they run.
 * @property {string[]} vitest Arguments for vitest: file filters and exclusions.
 *
 * @typedef {object} Part
 * @property {string[]} steps
 * @property {string[]} files File filters of vitest.
 */

/** The order matters: what fails early is cheap, and the tests need the build and the runtimes. */
const order = ['runtimes', 'services', 'build', 'types', 'lint', 'install', 'site', 'tests']

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

const single = ['runtimes', 'services', 'build', 'lint', 'install']
const names = [...single, 'unit', ...groups.keys()]

export const usage = `npm test                          everything
npm test -- --only <part>[,…]     ${names.join(', ')}
npm test -- <file filter>…        only the test files whose path contains a filter`

/** @param {string[]} argv @returns {Selection} */
export function parseArguments(argv) {
  /** @type {string[]} */
  const only = []
  /** @type {string[]} */
  const filters = []
  const rest = argv.values()
  for (const argument of rest) {
    if (argument === '--help' || argument === '-h') return { help: true, steps: [], vitest: [] }
    if (argument === '--only') only.push(...partNames(rest.next().value))
    else if (argument.startsWith('--only=')) only.push(...partNames(argument.slice('--only='.length)))
    else if (argument.startsWith('-')) throw new Error(`Unknown option "${argument}".`)
    else filters.push(argument)
  }
  if (only.length > 0 && filters.length > 0) throw new Error('Give either --only or file filters, not both.')
  if (filters.length > 0) return { help: false, steps: ['tests'], vitest: filters }
  if (only.length === 0) return { help: false, steps: order, vitest: [] }
  return select(only)
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

/** @param {string[]} only @returns {Selection} */
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
  return { help: false, steps: order.filter((step) => steps.has(step)), vitest }
}
