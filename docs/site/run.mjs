import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { isInstalled } from '../../test/support/run/runtimes.mjs'

// `npm run site [-- --serve] [--out <folder>] [--base <path>]`: builds the site, after it has installed what that needs.
const root = join(import.meta.dirname, '../..')
const serves = process.argv.includes('--serve')
const args = process.argv.slice(2).filter((argument) => argument !== '--serve')

if (!isInstalled(import.meta.dirname)) {
  run('npm', ['ci', '--no-audit', '--no-fund', '--prefer-offline'], import.meta.dirname)
}
run(process.execPath, ['--import', 'tsx', join(import.meta.dirname, 'build.ts'), ...args], root)
if (serves) run(process.execPath, ['--import', 'tsx', join(import.meta.dirname, 'serve.ts'), ...args], root)

/**
 * @param {string} command
 * @param {readonly string[]} args
 * @param {string} cwd
 */
function run(command, args, cwd) {
  const { status, error } = spawnSync(command, args, { cwd, stdio: 'inherit' })
  if (error !== undefined) console.error(error.message)
  if (status !== 0) process.exit(status ?? 1)
}
