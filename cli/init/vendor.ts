import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { CommandFailure } from '../failure.ts'
import { manifest, packageFolder, packageName, programName, version } from '../package.ts'
import type { PackageManager } from '../project/project.ts'

/** The name of a copy in the project, without the folder of an npm scope. */
const stem = packageName.replace(/^@/, '').replace('/', '-')

/** The path of the copy of the framework in a project, relative to it: a tarball, or for Deno, which accepts none, a folder. */
export const vendoredPath = (manager: PackageManager): string =>
  manager === 'deno' ? `vendor/${programName}` : `vendor/${stem}-${version()}.tgz`

/**
 * Puts a copy of this package into a project, where it stays wherever the project is moved, cloned or built.
 *
 * @throws CommandFailure with npm's error if it cannot pack.
 */
export function vendor(folder: string, manager: PackageManager): void {
  const from = packageFolder()
  if (!existsSync(join(from, 'dist'))) throw new CommandFailure(`${from} has no dist: npm run build creates it`)
  if (manager === 'deno') {
    const own = ['package.json', 'README.md', 'LICENSE', ...manifest().files]
    const to = join(folder, vendoredPath(manager))
    for (const path of own.filter((one) => !one.startsWith('!'))) {
      // Source maps are half of the size, and only the package's authors need the tests.
      cpSync(join(from, path), join(to, path), { recursive: true, filter: (one) => !/\.(map|test\.ts)$/.test(one) })
    }
    return
  }
  const to = join(folder, 'vendor')
  mkdirSync(to, { recursive: true })
  // On Windows it is a .cmd file, which needs a shell: quotes keep the path as one word.
  const shell = process.platform === 'win32'
  const destination = shell ? `"${to}"` : to
  const args = ['pack', '--ignore-scripts', '--silent', '--pack-destination', destination]
  const { status, error, stderr } = spawnSync('npm', args, { cwd: from, shell, encoding: 'utf8' })
  if (error !== undefined)
    throw new CommandFailure(`npm, which packs the framework, cannot be started: ${error.message}`)
  if (status !== 0) throw new CommandFailure(`npm cannot pack the framework: ${stderr.trim()}`)
}
