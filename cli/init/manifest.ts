import { manifest, packageName, programName } from '../package.ts'
import { pinMember, pinsFor } from '../project/packages.ts'
import { runtimeOf } from '../project/project.ts'
import { completed, existingIndent } from './existing.ts'
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
const program = `node_modules/${packageName}/${manifest.bin[programName]!.replace(/^\.\//, '')}`

const scripts = {
  node: {
    dev: `${programName} serve`,
    build: `${programName} build`,
    start: 'node --enable-source-maps dist/index.js',
    test: 'vitest run',
    check: 'tsc',
    [programName]: programName,
  },
  // Runs with Bun even on machines without Node.js.
  bun: {
    dev: `bun ${program} serve`,
    start: 'bun src/index.ts',
    test: 'bun test',
    check: 'bun --bun tsc',
    [programName]: `bun ${program}`,
  },
  deno: {},
} as const

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
  const runtime = runtimeOf(settings.packageManager)
  const { dependencies, devDependencies } = packagesFor(settings)
  const [pins, member] = [pinsOf(settings), pinMember(settings.packageManager)]
  const own = {
    name: settings.name,
    version: '0.0.0',
    private: true,
    type: 'module',
    ...(runtime === 'node' && { engines: { node: manifest.engines.node } }),
    ...(runtime !== 'deno' && { scripts: scripts[runtime] }),
    dependencies,
    devDependencies,
    ...(member !== undefined && Object.keys(pins).length > 0 && { [member]: pins }),
    // The install script only makes esbuild start faster; npm warns, or does not run it, until that is decided.
    ...(settings.packageManager === 'npm' && { allowScripts: { esbuild: false } }),
  }
  return json(completed(settings.folder, own) ?? own, existingIndent(settings.folder))
}

const denoTasks = {
  dev: `deno run -A ${program} serve`,
  start: 'deno run -A src/index.ts',
  test: 'NODE_ENV=test deno test -A',
  check: 'deno check src',
  [programName]: `deno run -A ${program}`,
} as const

export function denoJson({ framework: { link } }: InitSettings): string {
  return json({
    tasks: denoTasks,
    ...(link !== undefined && { links: [link] }),
    compilerOptions: { noUncheckedIndexedAccess: true, verbatimModuleSyntax: true },
  })
}

const json = (value: object, indent = '  ') => `${JSON.stringify(value, null, indent)}\n`
