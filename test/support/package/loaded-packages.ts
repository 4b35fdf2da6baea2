import { join } from 'node:path'
import { execOutput } from './tarball.ts'

export interface Loaded {
  exports: string[]
  /** Names of the packages of which at least one module was loaded. */
  packages: string[]
  urls: string[]
}

/** Imports a specifier in a fresh process, as a module in `folder` would, and returns the loaded packages. */
export async function loadedBy(specifier: string, folder: string): Promise<Loaded> {
  const script = join(import.meta.dirname, 'record-loads.mjs')
  const output = await execOutput(
    process.execPath,
    [script, join(folder, `loaded-${process.hrtime.bigint()}.log`), specifier],
    folder,
  )
  const { exports, urls } = JSON.parse(output) as { exports: string[]; urls: string[] }
  const packages = [...new Set(urls.map(packageOf).filter((name) => name !== undefined))].sort()
  return { exports, packages, urls }
}

/** `@scope/name` or `name` after the last `node_modules/` of a file URL. */
export function packageOf(url: string): string | undefined {
  return /^file:.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(decodeURIComponent(url))?.[1]
}
