import { posix } from 'node:path'
import type { ImportKind } from './imports.ts'
import type { Project } from './project.ts'

/** One import, with the relative specifier resolved to a path from the root. */
export interface Edge {
  from: string
  line: number
  kind: ImportKind
  specifier: string
  /** The target below the root, `undefined` for a package or a built-in module. */
  to: string | undefined
  /** The package, `undefined` for a file of the project or a built-in module. */
  package: string | undefined
}

export function edgesOf(project: Project): Edge[] {
  return [...project.modules].flatMap(([from, facts]) =>
    facts.imports.map((found) => ({ from, ...found, ...target(from, found.specifier) })),
  )
}

function target(from: string, specifier: string): Pick<Edge, 'to' | 'package'> {
  if (specifier.startsWith('.')) {
    return { to: posix.join(posix.dirname(from), specifier), package: undefined }
  }
  if (specifier.startsWith('node:')) return { to: undefined, package: undefined }
  const parts = specifier.split('/')
  return { to: undefined, package: parts.slice(0, specifier.startsWith('@') ? 2 : 1).join('/') }
}

/** The plugin folder of a path: `cors` for `plugins/cors/origin.ts`, `undefined` for `plugins/catalog.ts` and the shared folder. */
export function pluginOf(path: string | undefined): string | undefined {
  const [folder, name, ...rest] = path?.split('/') ?? []
  return folder === 'plugins' && name !== 'shared' && rest.length > 0 ? name : undefined
}

export function isIn(path: string | undefined, folder: string): boolean {
  return path?.startsWith(`${folder}/`) ?? false
}
