import { join } from 'node:path'
import { npm, tsc } from './process.mjs'
import { isContinuousIntegration, isInstalled } from './runtimes.mjs'
import { failed } from './summary.mjs'

/**
 * Makes sure that what builds the documentation site is installed, and checks the types of its sources: `types` cannot, because
 * it runs without these packages.
 *
 * @param {import('./process.mjs').StepContext} context
 * @returns {Promise<import('./summary.mjs').Outcome>}
 */
export async function provideSite(context) {
  const folder = join(context.root, 'docs/site')
  if (!isInstalled(folder)) {
    console.log('installing what builds the documentation site (47 MB, once)')
    const result = await npm(['ci', '--no-audit', '--no-fund', '--prefer-offline'], {
      cwd: folder,
      deadline: Math.min(context.deadline, Date.now() + 120_000),
    })
    if (result.code !== 0) return announce(context, result.output.trim())
  }
  return tsc(context, 'docs/site')
}

/**
 * @param {import('./process.mjs').StepContext} context
 * @param {string} reason
 * @returns {import('./summary.mjs').Outcome}
 */
function announce({ print }, reason) {
  const line = '!'.repeat(100)
  print(`
${line}
!! NOT TESTED: the documentation site. What builds it cannot be installed into docs/site.
!! With CI=true this is a failure.
${line}
${reason}`)
  const note = 'not installed: docs/site'
  return isContinuousIntegration() ? failed(note) : { passed: 0, failed: 0, skipped: 1, note }
}
