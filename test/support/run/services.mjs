import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { run } from './process.mjs'
import { isContinuousIntegration } from './runtimes.mjs'
import { installSecondChoice, secondChoice } from './second-choice.mjs'
import { failed, passed } from './summary.mjs'

/**
 * Programs that tests start themselves, each on loopback with data of its own, and stop by pid.
 *
 * `where`: folders in which a package keeps it out of the path, as a pattern of the shell. `others`: names under
 * which it is as good. `second`: what npm has in its place; `without`: what that cannot do.
 *
 * @typedef {{ command: string, others?: string[], debian: string, tests: string, where?: string,
 *   second?: keyof typeof import('./second-choice.mjs').secondChoices, without?: string }} Service
 *
 * @type {Service[]}
 */
const services = [
  { command: 'redis-server', debian: 'redis-server', tests: 'everything that keeps its data in Redis' },
  {
    command: 'postgres',
    debian: 'postgresql',
    tests: 'everything that keeps its data in Postgres',
    where: '/usr/lib/postgresql/*/bin',
    second: 'postgres',
  },
  {
    command: 'mariadbd',
    debian: 'mariadb-server-core',
    tests: 'the recipe for MySQL',
    where: '/usr/sbin',
  },
  {
    command: 'mosquitto',
    debian: 'mosquitto',
    tests: 'MQTT with a real broker',
    where: '/usr/sbin',
    second: 'mosquitto',
    without:
      'MQTT 5, TLS, websockets and outages: aedes, which is in the place of mosquitto, serves MQTT 3.1.1 over TCP',
  },
  {
    command: 'chromium-headless-shell',
    others: ['chromium', 'chromium-browser', 'google-chrome'],
    debian: 'chromium-headless-shell',
    tests: 'cors and pages in a real browser',
  },
  { command: 'openssl', debian: 'openssl', tests: 'https, and MQTT over TLS' },
]

/** Debian starts a server when its package is installed, unless this file says no. */
const policy = '/usr/sbin/policy-rc.d'

/**
 * Makes sure that the servers which the integration tests start are installed: on Debian as root it installs them, and
 * elsewhere what npm has in their place.
 *
 * @param {import('./process.mjs').StepContext} context
 * @returns {Promise<import('./summary.mjs').Outcome>}
 */
export async function provideServices({ root, deadline, print }) {
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
  for (const { second } of missing) if (second !== undefined) await installSecondChoice(second, limit)
  missing = missing.filter((service) => !isServed(service))
  if (missing.length === 0) return passed(services.map(({ command }) => command).join(', '))

  print(announcement(missing, reason))
  const note = `not available: ${missing.map(({ command }) => command).join(', ')}`
  return isContinuousIntegration() ? failed(note) : { passed: 0, failed: 0, skipped: 1, note }
}

/** Whether its second choice does all that it is needed for. @param {Service} service */
function isServed({ second, without }) {
  return second !== undefined && without === undefined && secondChoice(second) !== undefined
}

/** @param {string} root @param {number} deadline */
async function absent(root, deadline) {
  const found = await Promise.all(
    services.map(({ command, others = [], where }) => {
      const ways = [command, ...others].map((name) => `command -v ${name}`)
      if (where !== undefined) ways.push(`ls ${where}/${command}`)
      return run('sh', ['-c', ways.join(' || ')], { cwd: root, deadline })
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

/** @param {Service[]} missing @param {string} reason */
function announcement(missing, reason) {
  const line = '!'.repeat(100)
  const what = missing.map(({ command, tests, second, without }) => {
    const lost = second !== undefined && secondChoice(second) !== undefined ? without : tests
    return `!! NOT TESTED: ${lost} (${command} is not installed).`
  })
  return `\n${line}\n${what.join('\n')}\n!! With CI=true this is a failure.\n${line}\n${reason}`
}
