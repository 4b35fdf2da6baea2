import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ModuleFacts, readModule } from './imports.ts'

/** The input of the rules. Paths are relative to the root, with forward slashes. */
export interface Project {
  /** The published modules: kernel, plugins, cli and the root entry points. */
  modules: ReadonlyMap<string, ModuleFacts>
  dependencies: ReadonlySet<string>
  peers: ReadonlySet<string>
  /** Everything below docs/plugins and test/plugins. */
  companions: readonly string[]
}

const sourceFolders = ['kernel', 'plugins', 'cli']
const entryPoints = ['index.ts', 'server.ts']

export function readProject(root: string): Project {
  const paths = [
    ...entryPoints.filter((file) => existsSync(join(root, file))),
    ...sourceFolders.flatMap((folder) => walk(root, folder)).filter((path) => path.endsWith('.ts')),
  ]
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest
  return projectOf(Object.fromEntries(paths.map((path) => [path, readFileSync(join(root, path), 'utf8')])), manifest, [
    ...walk(root, 'docs/plugins'),
    ...walk(root, 'test/plugins'),
  ])
}

interface Manifest {
  dependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
}

export function projectOf(sources: Record<string, string>, manifest: Manifest, companions: string[] = []): Project {
  const modules = new Map<string, ModuleFacts>()
  for (const [path, source] of Object.entries(sources)) {
    try {
      modules.set(path, readModule(source))
    } catch (cause) {
      throw new Error(`${path} cannot be parsed`, { cause })
    }
  }
  return {
    modules,
    dependencies: new Set(Object.keys(manifest.dependencies ?? {})),
    peers: new Set(Object.keys(manifest.peerDependencies ?? {})),
    companions,
  }
}

function walk(root: string, folder: string): string[] {
  if (!existsSync(join(root, folder))) return []
  return readdirSync(join(root, folder), { withFileTypes: true })
    .filter((entry) => entry.name !== 'node_modules')
    .flatMap((entry) => {
      const path = `${folder}/${entry.name}`
      return entry.isDirectory() ? walk(root, path) : [path]
    })
    .sort()
}
