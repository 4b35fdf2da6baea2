import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join, relative } from 'node:path'
import { runtimeBinary } from '../../runtimes/run.mjs'
import { run, tool } from './process.mjs'
import { passed } from './summary.mjs'

/** @param {import('./process.mjs').StepContext} context */
export function biome(context) {
  return tool(context, '@biomejs/biome/bin/biome', ['check', '.'])
}

/**
 * The tests run on Node.js 26, which needs a quarter less processor time than 20: an `await` costs less, and processes read what an earlier one
 * has compiled. The Node.js that has started them is the oldest one of the conformance suite and of {@link runOldest}.
 */
const isNew = Number.parseInt(process.versions.node, 10) >= 26
// Read when the tests begin: an earlier step installs it.
const nodeOfTests = () => (!isNew && runtimeBinary('node26')) || process.execPath

/** Where processes keep what they have compiled. Not in the folder of a run: Bun still writes there when the run has ended. */
const compiled = 'node_modules/.cache/compiled'

/**
 * What only an old version of Node.js runs: responses that are written past `node:http`, fast-json-stringify, SQLite in WebAssembly, TypeScript
 * by a hook. What clients see of it, and leaks, conformance has on that version, and the demo all plugins together; the long run has everything.
 */
const ofOldest = [
  'test/kernel/life/shutdown',
  'test/kernel/runtime/node/direct',
  'test/plugins/database/sqlite',
  'test/plugins/serializer/',
  'test/cli/application-commands',
]

/**
 * Runs vitest and counts from its JSON report, not from what it prints. The files run in a random order, which the same seed repeats.
 *
 * @param {import('./process.mjs').StepContext} context
 * @param {import('./selection.mjs').Selection} selection
 * @returns {Promise<import('./summary.mjs').Outcome>}
 */
export async function runVitest(context, { vitest, seed, long }) {
  console.log(`order of the files: --seed ${seed}`)
  // What earlier runs have compiled would only grow.
  rmSync(join(context.root, compiled), { recursive: true, force: true, maxRetries: 3 })
  const { report, result } = await vitestOn(nodeOfTests(), context, [`--sequence.seed=${seed}`, ...vitest], {
    ...(long && { FRAMEWORK_TEST_LONG: '1' }),
  })
  if (report === undefined) return withoutReport(result)
  printSlowest(report, context.root)
  printCommands(report, context.root)
  return countReport(report, result.code, context.root)
}

/**
 * Runs a part of the tests, or in the long run all of them, on the Node.js of this process, if it is older than that of the tests.
 *
 * @param {import('./process.mjs').StepContext} context
 * @param {import('./selection.mjs').Selection} selection
 * @returns {Promise<import('./summary.mjs').Outcome>}
 */
export async function runOldest(context, { seed, long }) {
  const name = `Node.js ${process.versions.node}`
  if (nodeOfTests() === process.execPath) return passed(`${name} runs the tests`)
  const workers = long ? [] : ['--maxWorkers=1']
  const { report, result } = await vitestOn(
    process.execPath,
    context,
    [`--sequence.seed=${seed}`, ...workers, ...(long ? [] : ofOldest)],
    {},
    false,
  )
  const outcome = report === undefined ? withoutReport(result) : countReport(report, result.code, context.root)
  if (outcome.failed > 0) context.print(result.output)
  return { ...outcome, note: `${name}, ${outcome.note}` }
}

/** @param {import('./process.mjs').RunResult} result @returns {import('./summary.mjs').Outcome} */
const withoutReport = ({ timedOut }) => ({
  passed: 0,
  failed: 1,
  skipped: 0,
  note: timedOut ? 'took too long' : 'vitest wrote no report',
})

/**
 * @param {string} binary
 * @param {import('./process.mjs').StepContext} context
 * @param {string[]} args
 * @param {Record<string, string>} env
 */
async function vitestOn(binary, { root, scratch, deadline, missingRuntimes }, args, env, show = true) {
  const file = join(scratch, `vitest-${binary === process.execPath ? 'own' : 'new'}.json`)
  const result = await run(
    binary,
    [
      join(root, 'node_modules/vitest/vitest.mjs'),
      'run',
      '--reporter=default',
      '--reporter=json',
      `--outputFile.json=${file}`,
      // A forgotten `.only` would leave the rest out without a word.
      '--allowOnly=false',
      '--silent=passed-only',
      ...args,
    ],
    {
      cwd: root,
      deadline,
      show,
      env: {
        FRAMEWORK_MISSING_RUNTIMES: missingRuntimes.join(','),
        FRAMEWORK_OLDEST_NODE: process.execPath,
        NODE_COMPILE_CACHE: join(root, compiled),
        ...env,
      },
    },
  )
  /** @type {Report | undefined} */
  const report = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined
  return { report, result }
}

/**
 * @typedef {{ status: string, fullName?: string }} TestResult
 * @typedef {{ name: string, status: string, startTime?: number, endTime?: number, assertionResults: TestResult[] }} FileResult
 * @typedef {{ testResults: FileResult[] }} Report
 */

/** @param {Report} report @param {string} root */
function printSlowest({ testResults }, root) {
  const times = testResults.map(({ name, startTime = 0, endTime = 0 }) => ({ name, ms: endTime - startTime }))
  const slowest = times.sort((a, b) => b.ms - a.ms).slice(0, 10)
  if (times.length <= 10) return
  console.log('\nthe slowest files')
  for (const { name, ms } of slowest) console.log(`${(ms / 1000).toFixed(1).padStart(7)} s  ${relative(root, name)}`)
}

/** Prints how each failed test is run alone. @param {Report} report @param {string} root */
function printCommands({ testResults }, root) {
  const commands = testResults.flatMap(({ name, status, assertionResults }) => {
    const file = `npx vitest run ${relative(root, name)}`
    const failures = assertionResults.filter((one) => one.status === 'failed')
    if (failures.length === 0) return status === 'failed' ? [file] : []
    return failures.map(({ fullName = '' }) => `${file} -t ${quoted(fullName.trim())}`)
  })
  if (commands.length === 0) return
  console.log('\nto run what failed, alone')
  for (const command of commands.slice(0, 30)) console.log(`  ${command}`)
  if (commands.length > 30) console.log(`  … and ${commands.length - 30} more`)
}

/** For a shell; vitest takes the name of a test as a regular expression. @param {string} name */
const quoted = (name) => `'${name.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&').replaceAll("'", '.')}'`

/**
 * @param {Report} report
 * @param {number} code
 * @param {string} root
 * @returns {import('./summary.mjs').Outcome}
 */
export function countReport(report, code, root) {
  if (code === 0 && report.testResults.length === 0)
    return { passed: 0, failed: 0, skipped: 0, note: 'nothing has changed' }
  const count = { passed: 0, failed: 0, skipped: 0 }
  const notes = []
  for (const file of report.testResults) {
    let broken = 0
    for (const { status } of file.assertionResults) {
      if (status === 'passed') count.passed++
      else if (status === 'failed') broken++
      else count.skipped++
    }
    // A file that cannot be loaded, or a hook that throws, fails without a failed test.
    if (broken === 0 && file.status === 'failed') {
      broken = 1
      notes.push(`${relative(root, file.name)} failed outside its tests`)
    }
    count.failed += broken
  }
  if (code !== 0 && count.failed === 0) {
    count.failed = 1
    notes.push(`vitest ended with code ${code} (an unhandled error, or no test at all)`)
  }
  if (count.passed + count.failed === 0) {
    count.failed = 1
    notes.push(
      'no test ran: the names of files contain no such path. Long tests are run by npm run test:long -- <path>',
    )
  }
  return { ...count, note: [`${report.testResults.length} files`, ...notes].join('; ') }
}
