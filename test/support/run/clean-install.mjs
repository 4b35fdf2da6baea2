import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { globSync } from 'tinyglobby'
import { npm } from './process.mjs'
import { failed, passed } from './summary.mjs'

/**
 * Whether a newcomer's `npm ci` takes the lock files: manifest and lock file alone, in an empty folder. `npm install` accepts
 * lock files that `npm ci` refuses, so a working node_modules proves nothing. Nothing is written: that the packages can be
 * had is proved by the `npm ci` before the run, and again would take 40 s of CPU. Where npm knows `allowScripts`, it has to
 * say of each package with an install script whether that may run. Each package has its address in the lock file: without it,
 * npm asks the registry for a description of each, which takes longer than all the rest.
 *
 * @param {import('./process.mjs').StepContext} context
 * @returns {Promise<import('./summary.mjs').Outcome>}
 */
export async function checkCleanInstall({ root, scratch, deadline, print }) {
  const jobs = [
    { from: root, name: 'package' },
    { from: join(root, 'test/runtimes'), name: 'test-runtimes' },
    { from: join(root, 'docs/site'), name: 'docs-site' },
  ]
  const results = await Promise.all(jobs.map(({ from, name }) => installIn(join(scratch, name), from, deadline)))
  const broken = results.flatMap((output, i) => (output === undefined ? [] : [{ from: jobs[i]?.from, output }]))
  for (const { from, output } of broken)
    print(`npm ci fails in an empty folder with package.json and package-lock.json of ${from}:\n${output}`)
  // Those of the other folders, which only the long run and benchmarks install, as well.
  const files = globSync('**/package-lock.json', { cwd: root, ignore: '**/node_modules/**' })
  const bare = files.flatMap((file) => withoutAddress(join(root, file)).map((path) => `${file}: ${path}`))
  if (bare.length > 0)
    print(
      `without an address ("resolved"):\n${bare.join('\n')}\nWrite the file with omit-lockfile-registry-resolved=false.`,
    )
  if (broken.length > 0) return failed('npm ci refuses the lock file')
  return bare.length > 0 ? failed('a lock file has packages without their address') : passed()
}

/** @param {string} file */
function withoutAddress(file) {
  /** @type {{ packages: Record<string, { resolved?: string }> }} */
  const { packages } = JSON.parse(readFileSync(file, 'utf8'))
  return Object.keys(packages).filter((path) => path !== '' && packages[path]?.resolved === undefined)
}

/** @param {string} folder @param {string} from @param {number} deadline */
async function installIn(folder, from, deadline) {
  mkdirSync(folder, { recursive: true })
  for (const file of ['package.json', 'package-lock.json']) {
    if (!existsSync(join(from, file))) return `${file} is missing`
    copyFileSync(join(from, file), join(folder, file))
  }
  const options = ['--dry-run', '--strict-allow-scripts', '--prefer-offline', '--no-audit', '--no-fund']
  const result = await npm(['ci', ...options], {
    cwd: folder,
    deadline: Math.min(deadline, Date.now() + 180_000),
  })
  return result.code === 0 ? undefined : result.output.trim()
}
