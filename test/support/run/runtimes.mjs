import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { npm, run } from './process.mjs'
import { failed, passed } from './summary.mjs'

/**
 * Makes sure that every runtime the conformance suite runs on is installed and works. What only the long tests need is not installed for other runs.
 *
 * @param {import('./process.mjs').StepContext} context
 * @param {import('./selection.mjs').Selection} selection
 * @returns {Promise<import('./summary.mjs').Outcome>}
 */
export async function provideRuntimes({ root, deadline, print }, { long }) {
  const folder = join(root, 'test/runtimes')
  const names = runtimeNames(folder, long)
  if (names.length === 0) return failed('test/runtimes/package.json names no runtime')

  let reason = 'They are installed but do not answer; remove test/runtimes/node_modules to install them afresh.'
  if (!isInstalled(folder, long)) {
    console.log(`installing ${names.join(', ')} (some hundred megabytes, once)`)
    const wanted = long ? '--include=dev' : '--omit=dev'
    const result = await npm(['ci', wanted, '--no-audit', '--no-fund', '--prefer-offline'], {
      cwd: folder,
      deadline: Math.min(deadline, Date.now() + 240_000),
    })
    if (result.code !== 0) reason = result.output.trim()
  }
  const missing = await silent(folder, names, deadline)
  if (missing.length === 0) return passed(names.join(', '))

  print(announcement(missing, reason))
  const note = `not available: ${missing.join(', ')}`
  if (isContinuousIntegration()) return { ...failed(note), missingRuntimes: missing }
  return { passed: 0, failed: 0, skipped: 1, note, missingRuntimes: missing }
}

/** @param {string} folder @param {boolean} long */
function runtimeNames(folder, long) {
  const manifest = join(folder, 'package.json')
  if (!existsSync(manifest)) return []
  const { dependencies, devDependencies } = JSON.parse(readFileSync(manifest, 'utf8'))
  return Object.keys({ ...dependencies, ...(long && devDependencies) }).sort()
}

/**
 * Whether node_modules is what the lock file asks for: every package that npm has recorded there is in the lock with
 * the same content, and none that is not optional is absent.
 *
 * @param {string} folder
 * @param {boolean} [withDev] Whether packages of development have to be there as well.
 */
export function isInstalled(folder, withDev = true) {
  const installed = packagesOf(join(folder, 'node_modules/.package-lock.json'))
  const wanted = packagesOf(join(folder, 'package-lock.json'))
  if (!installed || !wanted) return false
  for (const [path, entry] of Object.entries(wanted)) {
    if (path === '' || (entry.dev && !withDev && !installed[path])) continue
    const there = installed[path]
    if (there ? !sameContent(there, entry) || !existsSync(join(folder, path)) : !entry.optional) return false
  }
  return Object.keys(installed).every((path) => path in wanted)
}

/** @typedef {{ version?: string, integrity?: string, optional?: boolean, dev?: boolean }} LockEntry */

/** @param {string} file @returns {Record<string, LockEntry> | undefined} */
function packagesOf(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).packages
  } catch {
    return undefined
  }
}

/** @param {LockEntry} a @param {LockEntry} b */
function sameContent(a, b) {
  return a.version === b.version && a.integrity === b.integrity
}

/**
 * Those that do not answer when asked for their version.
 *
 * @param {string} folder
 * @param {string[]} names
 * @param {number} deadline
 */
async function silent(folder, names, deadline) {
  const starter = join(folder, 'run.mjs')
  const answers = await Promise.all(
    names.map((name) =>
      run(process.execPath, [starter, name, '--version'], {
        cwd: folder,
        deadline: Math.min(deadline, Date.now() + 20_000),
      }),
    ),
  )
  return names.filter((_, i) => answers[i]?.code !== 0 || !/\d+\.\d+/.test(answers[i].output))
}

export function isContinuousIntegration() {
  return !['', '0', 'false', undefined].includes(process.env.CI?.toLowerCase())
}

/** @param {string[]} missing @param {string} reason */
function announcement(missing, reason) {
  const line = '!'.repeat(100)
  return `
${line}
!! NOT TESTED on ${missing.join(', ')}: the runtimes in test/runtimes are not available.
!! The conformance suite runs on what is left. With CI=true this is a failure.
${line}
${reason}`
}
