import { createRequire } from 'node:module'

/** The file that a module of the application gets for a name: it may be of another copy of the package than this one. */
export function resolveFrom(file: string, specifier: string): string | undefined {
  try {
    return createRequire(file).resolve(specifier)
  } catch {
    return undefined
  }
}
