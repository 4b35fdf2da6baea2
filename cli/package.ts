import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The folder of the package that this file is part of: how deep it lies there is the bundler's choice. */
export function packageFolder(): string {
  let folder = dirname(fileURLToPath(import.meta.url))
  while (!existsSync(join(folder, 'package.json'))) folder = dirname(folder)
  return folder
}

export function version(): string {
  const manifest = readFileSync(join(packageFolder(), 'package.json'), 'utf8')
  return (JSON.parse(manifest) as { version: string }).version
}
