import { join } from 'node:path'
import { npm } from './process.mjs'
import { isContinuousIntegration, isInstalled } from './runtimes.mjs'
import { failed, passed } from './summary.mjs'

/** Whether what builds the documentation site is installed. @param {string} root */
export const hasSite = (root) => isInstalled(join(root, 'docs/site'))

/**
 * Makes sure that what builds the documentation site is installed.
 *
 * @param {import('./process.mjs').StepContext} context
 * @returns {Promise<import('./summary.mjs').Outcome>}
 */
export async function provideSite(context) {
  if (!hasSite(context.root)) {
    console.log('installing what builds the documentation site (47 MB, once)')
    const result = await npm(['ci', '--no-audit', '--no-fund', '--prefer-offline'], {
      cwd: join(context.root, 'docs/site'),
      deadline: Math.min(context.deadline, Date.now() + 120_000),
    })
    if (result.code !== 0) return announce(context, result.output.trim())
  }
  return passed()
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
