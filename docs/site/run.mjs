import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

// `npm run site`: installs what the build of the site needs, and builds it.
const root = join(import.meta.dirname, '../..')
const { serve, ...options } = readArguments()
const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value])

await import('./installed.mjs').catch((/** @type {Error} */ { message }) => {
  console.error(message)
  process.exit(1)
})
run('build.ts')
if (serve) run('serve.ts')

function readArguments() {
  try {
    const { values } = parseArgs({
      options: { serve: { type: 'boolean' }, out: { type: 'string' }, base: { type: 'string' } },
    })
    if (values.serve && values.base !== undefined)
      throw new Error('--serve serves the site at /, so it takes no --base')
    if (values.base !== undefined && !/^\/(?:.*\/)?$/.test(values.base))
      throw new Error(`--base takes a path that begins and ends with a slash, /docs/ for one, not "${values.base}"`)
    return values
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}`)
    console.error('\nnpm run site -- [--serve | --base <path>] [--out <folder>]')
    process.exit(2)
  }
}

/** @param {string} script */
function run(script) {
  const command = ['--import', 'tsx', join(import.meta.dirname, script), ...args]
  const { status, error } = spawnSync(process.execPath, command, { cwd: root, stdio: 'inherit' })
  if (error !== undefined) console.error(error.message)
  if (status !== 0) process.exit(status ?? 1)
}
