import { existsSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { run, tool } from './process.mjs'

/** @param {import('./process.mjs').StepContext} context */
export function biome(context) {
  return tool(context, '@biomejs/biome/bin/biome', ['check', '.'])
}

/**
 * Runs vitest and counts from its JSON report, not from what it prints.
 *
 * @param {import('./process.mjs').StepContext} context
 * @param {string[]} args
 * @returns {Promise<import('./summary.mjs').Outcome>}
 */
export async function runVitest({ root, scratch, deadline, missingRuntimes }, args) {
  const report = join(scratch, 'vitest.json')
  const result = await run(
    process.execPath,
    [
      join(root, 'node_modules/vitest/vitest.mjs'),
      'run',
      '--reporter=default',
      '--reporter=json',
      `--outputFile.json=${report}`,
      // A forgotten `.only` would leave the rest out without a word.
      '--allowOnly=false',
      // Tests that talk to servers, processes and eight runtimes have a second try, which is reported: see `countReport`.
      '--retry=1',
      ...args,
    ],
    { cwd: root, deadline, show: true, env: { FRAMEWORK_MISSING_RUNTIMES: missingRuntimes.join(',') } },
  )
  if (!existsSync(report)) {
    return { passed: 0, failed: 1, skipped: 0, note: result.timedOut ? 'took too long' : 'vitest wrote no report' }
  }
  return countReport(JSON.parse(readFileSync(report, 'utf8')), result.code, root)
}

/**
 * @typedef {{ status: string, fullName?: string, failureMessages?: string[] | null }} TestResult
 *
 * A test that passed on its second try has passed, and is named: on a busy machine that happens, on a quiet one it is a
 * mistake to be found.
 *
 * @param {{ testResults: { name: string, status: string, message?: string, assertionResults: TestResult[] }[] }} report
 * @param {number} code
 * @param {string} root
 * @returns {import('./summary.mjs').Outcome}
 */
export function countReport(report, code, root) {
  const count = { passed: 0, failed: 0, skipped: 0 }
  const notes = []
  for (const file of report.testResults) {
    let broken = 0
    for (const { status, fullName = '', failureMessages } of file.assertionResults) {
      if (status === 'passed' && failureMessages != null && failureMessages.length > 0) {
        notes.push(`passed on the second try only: ${relative(root, file.name)} ${fullName.trim()}`)
      }
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
    notes.push('no test ran')
  }
  return { ...count, note: [`${report.testResults.length} files`, ...notes].join('; ') }
}
