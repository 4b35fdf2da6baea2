import { createRequire } from 'node:module'
import { defineErrors, type FrameworkError, reportedTogether } from '../../../kernel/support/errors.ts'
import { safely } from '../values/safely.ts'

export const { PeerMissingError } = defineErrors({
  PeerMissingError: (feature: string, names: readonly string[], install: string) =>
    names.length === 1
      ? `${feature} needs the package "${names[0]}", which is not installed. Add it: ${install}`
      : `${feature} needs the packages ${names.map((name) => `"${name}"`).join(' and ')}, which are not installed. Add them: ${install}`,
})

export const packageManagers = ['npm', 'pnpm', 'yarn', 'bun', 'deno'] as const
export type PackageManager = (typeof packageManagers)[number]

/** The package manager of this process: that of its runtime, or the one that has started it, by the user agent of `npx`, `pnpm dlx` and the like. */
export function callingManager(): PackageManager | undefined {
  if ('Bun' in globalThis) return 'bun'
  if ('Deno' in globalThis) return 'deno'
  const name = /^\w+/.exec(process.env.npm_config_user_agent ?? '')?.[0]
  return packageManagers.find((one) => one === name)
}

/** The command that adds packages: `npm install --save-dev esbuild`. */
export function installCommand(
  manager: PackageManager,
  packages: readonly string[],
  { dev = false }: { readonly dev?: boolean } = {},
): string {
  const names = packages.map((name) => (manager === 'deno' ? `npm:${name}` : name)).join(' ')
  if (manager === 'npm') return `npm install ${dev ? '--save-dev ' : ''}${names}`
  return `${manager} add ${dev ? '--dev ' : ''}${names}`
}

/** The peer dependencies of this package; empty where the package cannot be found, as in a bundle. */
function peerRanges(): Readonly<Record<string, string>> {
  const load = createRequire(import.meta.url)
  // From dist, dist/chunks and the sources.
  const manifests = ['../package.json', '../../package.json', '../../../package.json']
  return manifests.map((manifest) => safely(() => load(manifest).peerDependencies)).find(Boolean) ?? {}
}

/** The version to install, such as `@16`: the latest one may be unsupported or, if several are supported, not run on this Node.js. */
function versionOf(name: string): string {
  const alternatives = (peerRanges()[name] ?? '').split('||')
  const isOld = !('Bun' in globalThis || 'Deno' in globalThis) && Number.parseInt(process.versions.node, 10) < 22
  const range = alternatives.at(isOld ? 0 : -1)!.trim()
  const below = /<(\d+)/.exec(range)?.[1]
  if (below !== undefined) return `@${Number(below) - 1}`
  const major = /^\^(0\.\d+|\d+)/.exec(range)?.[1]
  return major === undefined ? '' : `@${major}`
}

function isMissing(error: unknown, name: string): boolean {
  const { code, message } = error as { code?: unknown; message?: unknown }
  const isNotFound = code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND' || code === undefined
  // Not if the package exists but one of its own dependencies does not: then the package's own message is more useful.
  return isNotFound && new RegExp(`['"\`](npm:)?${name}(@[^'"\`/]*)?['"\`]`).test(String(message))
}

/**
 * Loads an optional package when a feature that needs it starts.
 *
 * The literal `import()` stays with the caller, so that types and bundlers see it. Only a failure to find that very package
 * becomes `PeerMissingError`; the error of a package that is installed but fails to load is thrown unchanged.
 *
 * @example
 * const { Redis } = await peer('ioredis', () => import('ioredis'), 'the cache plugin (provider "redis")')
 */
export async function peer<Module>(name: string, load: () => Promise<Module>, feature: string): Promise<Module> {
  try {
    return await load()
  } catch (error) {
    if (!isMissing(error, name)) throw error
    throw missing(feature, [name], error)
  }
}

type MissingPeers = FrameworkError & { readonly feature: string; readonly names: readonly string[] }

function missing(feature: string, names: readonly string[], cause: unknown): MissingPeers {
  const wanted = names.map((name) => `${name}${versionOf(name)}`)
  const error = PeerMissingError(feature, names, installCommand(callingManager() ?? 'npm', wanted))
  return Object.assign(reportedTogether(error), { cause, feature, names })
}

/**
 * The packages of one feature, so that all missing ones are reported together.
 *
 * @example
 * const [bullmq, ioredis] = await peers(
 *   peer('bullmq', () => import('bullmq'), 'a queue of BullMQ'),
 *   peer('ioredis', () => import('ioredis'), 'a queue of BullMQ'),
 * )
 */
export async function peers<Modules extends readonly unknown[]>(
  ...loads: { readonly [Index in keyof Modules]: Promise<Modules[Index]> | Modules[Index] }
): Promise<Modules> {
  const settled = await Promise.allSettled(loads)
  const failures = settled.flatMap((one) => (one.status === 'rejected' ? [one.reason as MissingPeers] : []))
  const other = failures.find(({ code }) => code !== PeerMissingError.code)
  if (other !== undefined) throw other
  const [first] = failures
  if (first === undefined) return settled.map((one) => (one as PromiseFulfilledResult<unknown>).value) as never
  const all = failures.flatMap(({ names }) => names)
  throw missing(first.feature, all, first.cause)
}
