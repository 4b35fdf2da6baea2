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
 * @param {{ testResults: { name: string, status: string, message?: string, assertionResults: { status: string }[] }[] }} report
 * @param {number} code
 * @param {string} root
 * @returns {import('./summary.mjs').Outcome}
 */
export function countReport(report, code, root) {
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
    notes.push('no test ran')
  }
  return { ...count, note: [`${report.testResults.length} files`, ...notes].join('; ') }
}
