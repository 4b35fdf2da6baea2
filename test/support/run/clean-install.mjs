import { copyFileSync, existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { npm } from './process.mjs'
import { failed, passed } from './summary.mjs'

/**
 * Whether a newcomer's `npm ci` works: manifest and lock file alone, in an empty folder. `npm install` accepts lock
 * files that `npm ci` refuses, so a working node_modules proves nothing.
 *
 * @param {import('./process.mjs').StepContext} context
 * @returns {Promise<import('./summary.mjs').Outcome>}
 */
export async function checkCleanInstall({ root, scratch, deadline }) {
  const jobs = [
    { from: root, name: 'package', dryRun: false },
    // Some hundred megabytes; that they install is seen where the runtimes are provided.
    { from: join(root, 'test/runtimes'), name: 'test-runtimes', dryRun: true },
  ]
  let broken = 0
  for (const { from, name, dryRun } of jobs) {
    const result = await installIn(join(scratch, name), from, dryRun, deadline)
    if (result === undefined) continue
    broken++
    console.log(`npm ci fails in an empty folder with package.json and package-lock.json of ${from}:\n${result}`)
  }
  return broken === 0 ? passed() : failed('npm ci refuses the lock file')
}

/** @param {string} folder @param {string} from @param {boolean} dryRun @param {number} deadline */
async function installIn(folder, from, dryRun, deadline) {
  mkdirSync(folder, { recursive: true })
  for (const file of ['package.json', 'package-lock.json']) {
    if (!existsSync(join(from, file))) return `${file} is missing`
    copyFileSync(join(from, file), join(folder, file))
  }
  const args = ['ci', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund']
  const result = await npm(dryRun ? [...args, '--dry-run'] : args, {
    cwd: folder,
    deadline: Math.min(deadline, Date.now() + 180_000),
  })
  return result.code === 0 ? undefined : result.output.trim()
}
