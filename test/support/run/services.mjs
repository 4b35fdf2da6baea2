import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { run } from './process.mjs'
import { isContinuousIntegration } from './runtimes.mjs'
import { failed, passed } from './summary.mjs'

/**
 * Programs that tests start themselves, each on loopback with data of its own, and stop by pid.
 *
 * `where`: folders in which a package keeps it out of the path, as a pattern of the shell.
 *
 * @type {{ command: string, debian: string, tests: string, where?: string }[]}
 */
const services = [
  { command: 'redis-server', debian: 'redis-server', tests: 'everything that keeps its data in Redis' },
  {
    command: 'postgres',
    debian: 'postgresql',
    tests: 'everything that keeps its data in Postgres',
    where: '/usr/lib/postgresql/*/bin',
  },
  { command: 'mosquitto', debian: 'mosquitto', tests: 'MQTT with a real broker', where: '/usr/sbin' },
  { command: 'chromium', debian: 'chromium', tests: 'cors and pages in a real browser' },
]

/** Debian starts a server when its package is installed, unless this file says no. */
const policy = '/usr/sbin/policy-rc.d'

/**
 * Makes sure that the servers which the integration tests start are installed; on Debian as root it installs them.
 *
 * @param {import('./process.mjs').StepContext} context
 * @returns {Promise<import('./summary.mjs').Outcome>}
 */
export async function provideServices({ root, deadline }) {
  const limit = Math.min(deadline, Date.now() + 240_000)
  let missing = await absent(root, limit)
  let reason = 'Install them, or run the tests as root on Debian, where the run installs them itself.'
  if (missing.length > 0 && process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')) {
    reason = await install(
      missing.map(({ debian }) => debian),
      root,
      limit,
    )
    missing = await absent(root, limit)
  }
  if (missing.length === 0) return passed(services.map(({ command }) => command).join(', '))

  announce(missing, reason)
  const note = `not available: ${missing.map(({ command }) => command).join(', ')}`
  return isContinuousIntegration() ? failed(note) : { passed: 0, failed: 0, skipped: 1, note }
}

/** @param {string} root @param {number} deadline */
async function absent(root, deadline) {
  const found = await Promise.all(
    services.map(({ command, where }) => {
      const outside = where === undefined ? '' : ` || ls ${where}/${command}`
      return run('sh', ['-c', `command -v ${command}${outside}`], { cwd: root, deadline })
    }),
  )
  return services.filter((_, i) => found[i]?.code !== 0)
}

/** @param {string[]} packages @param {string} cwd @param {number} deadline */
async function install(packages, cwd, deadline) {
  console.log(`installing ${packages.join(', ')} with apt-get (once)`)
  const env = { DEBIAN_FRONTEND: 'noninteractive' }
  const ownPolicy = !existsSync(policy)
  if (ownPolicy) writeFileSync(policy, '#!/bin/sh\nexit 101\n', { mode: 0o755 })
  try {
    await run('apt-get', ['update', '-qq'], { cwd, deadline, env })
    const options = ['install', '-y', '-qq', '--no-install-recommends']
    const result = await run('apt-get', [...options, ...packages], { cwd, deadline, env })
    return result.code === 0 ? '' : result.output.trim()
  } finally {
    if (ownPolicy) rmSync(policy, { force: true })
  }
}

/** @param {typeof services} missing @param {string} reason */
function announce(missing, reason) {
  const line = '!'.repeat(100)
  const what = missing.map(({ command, tests }) => `!! NOT TESTED: ${tests} (${command} is not installed).`)
  console.log(`\n${line}\n${what.join('\n')}\n!! With CI=true this is a failure.\n${line}\n${reason}`)
}
