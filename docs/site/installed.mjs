import { spawnSync } from 'node:child_process'
import { isInstalled } from '../../test/support/run/runtimes.mjs'

/** Importing this module installs the packages of this folder if they are missing or the lock file has changed. */
if (!isInstalled(import.meta.dirname)) {
  const { status, error } = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--prefer-offline'], {
    cwd: import.meta.dirname,
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  if (status !== 0) {
    const why = error === undefined ? '' : `: ${error.message}`
    throw new Error(`what builds the documentation site cannot be installed into ${import.meta.dirname}${why}`)
  }
}
