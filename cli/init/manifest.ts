import { manifest, packageName, programName } from '../package.ts'
import { pinMember, pinsFor } from '../project/packages.ts'
import { runtimeOf } from '../project/project.ts'
import { fromTemplate } from '../scaffold/template.ts'
import { completed, packageText } from './existing.ts'
import { type Part, parts } from './parts.ts'
import type { InitSettings } from './settings.ts'

/** The packages of the parts; their versions are those with which the framework itself is tested. */
const packagesOf = (chosen: ReadonlySet<Part>) => [...chosen].flatMap((part) => parts[part].packages)

const tools = {
  node: ['@types/node', 'esbuild', 'typescript', 'vitest'],
  bun: ['@types/bun', 'typescript'],
  // Deno checks types and runs tests itself; the types of the framework refer to those of Node.js.
  deno: ['@types/node'],
} as const

/**
 * The file of the command line. `bun framework` would run the script with that name, which is this one, and Deno does not provide a
 * program for a package in a folder.
 */
export const file = `node_modules/${packageName}/${manifest.bin[programName]!.replace(/^\.\//, '')}`

/** Every package of a project, with its version range. */
export function packagesFor(settings: Pick<InitSettings, 'packageManager' | 'parts' | 'framework'>) {
  const { devDependencies: versions } = manifest
  const versioned = (names: readonly string[]) =>
    Object.fromEntries([...names].sort().map((name) => [name, versions[name] ?? '*']))
  const dependencies = { [packageName]: settings.framework.spec, ...versioned(packagesOf(settings.parts)) }
  return {
    dependencies: Object.fromEntries(Object.entries(dependencies).sort(([a], [b]) => (a < b ? -1 : 1))),
    devDependencies: versioned(tools[runtimeOf(settings.packageManager)]),
  }
}

/** Dependencies of the parts' packages that must stay older. */
export const pinsOf = ({ parts }: Pick<InitSettings, 'parts'>) => pinsFor(packagesOf(parts))

export function packageJson(settings: InitSettings): string {
  const { name, packageManager, folder } = settings
  const [pins, member] = [pinsOf(settings), pinMember(packageManager)]
  const runtime = runtimeOf(packageManager)
  const ofRuntime = { node: runtime === 'node', bun: runtime === 'bun', deno: runtime === 'deno' }
  const values = { name: JSON.stringify(name), file, engine: manifest.engines.node, ...ofRuntime }
  const own = {
    ...(JSON.parse(fromTemplate('project/package.json', values)) as object),
    ...packagesFor(settings),
    ...(member !== undefined && packageManager !== 'pnpm' && Object.keys(pins).length > 0 && { [member]: pins }),
    // The install script only makes esbuild start faster; npm warns, or does not run it, until that is decided.
    ...(packageManager === 'npm' && { allowScripts: { esbuild: false } }),
  }
  return packageText(folder, completed(folder, own) ?? own)
}

export const denoJson = ({ framework: { link } }: InitSettings): string =>
  fromTemplate('project/deno.json', { file, link: link && JSON.stringify(link) })
