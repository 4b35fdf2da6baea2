import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

// `npm run new -- <folder> [options of init]`: a project outside of this repository, with a copy of the package in it.
const root = import.meta.dirname
const [folder, ...options] = process.argv.slice(2)
const asksForHelp = folder === '--help' || folder === '-h'
if (folder === undefined || (folder.startsWith('-') && !asksForHelp)) {
  console.error('npm run new -- <folder>: name the folder of the project first, ../my-app for one')
  process.exit(2)
}

run(['build.mjs', '--if-changed'], root)
// npm runs scripts in the folder of the package; a path is relative to where it was typed.
const given = asksForHelp ? [folder] : [folder, '--vendor', ...options]
run([join(root, 'dist/cli/index.js'), 'init', ...given], process.env.INIT_CWD ?? process.cwd())

/**
 * @param {readonly string[]} args
 * @param {string} cwd
 */
function run(args, cwd) {
  const { status, signal } = spawnSync(process.execPath, args, { cwd, stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? (signal === 'SIGINT' ? 130 : 1))
}
