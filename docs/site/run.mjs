import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { isInstalled } from '../../test/support/run/runtimes.mjs'

// `npm run site`: installs what the build of the site needs, and builds it.
const root = join(import.meta.dirname, '../..')
const { serve, ...options } = readArguments()
const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value])

if (!isInstalled(import.meta.dirname)) {
  run('npm', ['ci', '--no-audit', '--no-fund', '--prefer-offline'], import.meta.dirname)
}
run(process.execPath, ['--import', 'tsx', join(import.meta.dirname, 'build.ts'), ...args], root)
if (serve) run(process.execPath, ['--import', 'tsx', join(import.meta.dirname, 'serve.ts'), ...args], root)

function readArguments() {
  try {
    const { values } = parseArgs({
      options: { serve: { type: 'boolean' }, out: { type: 'string' }, base: { type: 'string' } },
    })
    if (values.serve && values.base !== undefined)
      throw new Error('--serve serves the site at /, so it takes no --base')
    return values
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}`)
    console.error('\nnpm run site -- [--serve | --base <path>] [--out <folder>]')
    process.exit(2)
  }
}

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
