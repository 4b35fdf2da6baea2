import type { PackageManager } from '../../plugins/shared/environment/optional-package.ts'
import { isIn } from '../doctor/versions.ts'
import { manifest, type Overrides } from '../package.ts'
import { withLines } from '../text-file.ts'

/**
 * A package, as it is typed, with the version with which the framework is tested: `bullmq@6`. A later version may be
 * unsupported.
 */
export function versioned(name: string): string {
  // 11 and 12 require a later Node.js.
  if (name === 'pg-boss' && isIn(process.versions.node, '<22.12')) return 'pg-boss@10'
  const [, major, minor] = /^[~^]?(\d+)\.(\d+)/.exec(manifest.devDependencies[name] ?? '') ?? []
  return major === undefined ? name : `${name}@${major === '0' ? `0.${minor}` : major}`
}

/** By package: its dependencies whose later versions require a later Node.js than the framework does. */
const tooNew: Readonly<Record<string, readonly string[]>> = {
  '@graphql-tools/schema': ['@whatwg-node/promise-helpers'],
  'edge.js': ['edge-lexer', 'edge-parser'],
}

/** The last versions of these packages' dependencies that run on our oldest Node.js, as the framework pins them for itself. */
export function pinsFor(packages: readonly string[]): Readonly<Record<string, string>> {
  const pinned = flat(manifest.overrides)
  return Object.fromEntries(
    packages.flatMap((name) => tooNew[name] ?? []).flatMap((name) => (pinned[name] ? [[name, pinned[name]]] : [])),
  )
}

const flat = (overrides: Overrides): Record<string, string> =>
  Object.assign(
    {},
    ...Object.entries(overrides).map(([name, to]) => (typeof to === 'string' ? { [name]: to } : flat(to))),
  )

/** The member for pins, of a `package.json` or, with pnpm, its own file; Bun and Deno do not need Node.js. */
export const pinMember = (manager: PackageManager): 'overrides' | 'resolutions' | undefined =>
  manager === 'npm' || manager === 'pnpm' ? 'overrides' : manager === 'yarn' ? 'resolutions' : undefined

/** A `pnpm-workspace.yaml` with more pins; `undefined` if it has a different form for them. */
export function pinnedWorkspace(text: string, pins: readonly (readonly string[])[]): string | undefined {
  const linesWith = (indent: string) => pins.map(([name, version]) => `${indent}'${name}': '${version}'`)
  const own = /^overrides:\s*\n([^\S\n]*)/m.exec(text)
  if (own === null)
    return /^\W?overrides\b/m.test(text) ? undefined : withLines(text, ['overrides:', ...linesWith('  ')])
  const at = own.index + own[0].length - own[1]!.length
  return withLines(text.slice(0, at), linesWith(own[1] || '  ')) + text.slice(at)
}
