// `node test/oldest-peers.mjs [<part of a test's path> …]`: the tests of plugins with the oldest version of each peer dependency
// that package.json allows, in a copy of the checkout. `npm test` has the newest. It takes minutes, so it is run when a range
// changes and before a release. Build first.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const { peerDependencies, devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

/** @param {string} command @param {string[]} args */
function output(command, ...args) {
  const { stdout, status } = spawnSync(command, args, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 26 })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed`)
  return stdout
}

/** @param {string} one @param {string} other */
function compare(one, other) {
  const [a, b] = [one, other].map((version) => version.split('.').map(Number))
  return a[0] - b[0] || a[1] - b[1] || a[2] - b[2]
}

/** @param {string} name @param {string} range */
function oldest(name, range) {
  const found = [JSON.parse(output('npm', 'view', `${name}@${range}`, 'version', '--json'))].flat()
  return found.filter((version) => !version.includes('-')).sort(compare)[0]
}

/** Its older versions have a test of their own: test/plugins/standard-schemas.test.ts. */
const testedByItself = ['zod']
const wanted = Object.entries(peerDependencies)
  .filter(([name]) => !testedByItself.includes(name))
  .map(([name, range]) => `${name}@${oldest(name, range)}`)
const missing = Object.keys(peerDependencies).filter((name) => !(name in devDependencies))
if (missing.length > 0) throw new Error(`not among devDependencies, so not tested at all: ${missing.join(', ')}`)

const copy = mkdtempSync(join(tmpdir(), 'framework-oldest-peers-'))
try {
  for (const file of output('git', 'ls-files').trim().split('\n')) cpSync(join(root, file), join(copy, file))
  // What is published is built with the newest, so that the copy has that, too.
  for (const folder of ['dist', 'node_modules', 'test/runtimes/node_modules'])
    cpSync(join(root, folder), join(copy, folder), { recursive: true, verbatimSymlinks: true })
  console.log(wanted.join('\n'))
  /** @param {string} command @param {string[]} args */
  const run = (command, ...args) => spawnSync(command, args, { cwd: copy, stdio: 'inherit' }).status ?? 1
  // Not `--legacy-peer-deps`, which takes away what graphiql and others need beside them.
  const install = ['install', '--no-save', '--force', '--ignore-scripts', '--no-audit', '--no-fund']
  const parts = process.argv.slice(2)
  process.exitCode =
    run('npm', ...install, ...wanted) ||
    run('npx', 'vitest', 'run', ...(parts.length > 0 ? parts : ['test/plugins', 'test/kernel/validation']))
} finally {
  rmSync(copy, { recursive: true, force: true })
}
