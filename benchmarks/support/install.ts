import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const stampOf = (folder: string) => join(folder, 'node_modules/.framework-lock.json')
const lockOf = (folder: string) => readFileSync(join(folder, 'package-lock.json'), 'utf8')

/** Whether a folder has the packages that its lock file names. */
export function isInstalled(folder: string): boolean {
  const stamp = stampOf(folder)
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === lockOf(folder)
}

/** Installs the packages of a folder if its lock file has changed since they were last installed. */
export function provide(folder: string, size: string): void {
  if (isInstalled(folder)) return
  console.error(`installing what is compared with (${size}, once)`)
  const result = spawnSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: folder,
    encoding: 'utf8',
    shell: process.platform === 'win32',
  })
  if (result.status !== 0) throw new Error(`npm ci in ${folder} failed:\n${result.stdout}${result.stderr}`)
  writeFileSync(stampOf(folder), lockOf(folder))
}

/** Returns the version of a package that is installed in a folder. */
export function versionIn(folder: string, name: string): string {
  const manifest = readFileSync(join(folder, 'node_modules', name, 'package.json'), 'utf8')
  return (JSON.parse(manifest) as { version: string }).version
}
