import { createRequire } from 'node:module'

/** The file to which a name resolves for a module of the application: it may belong to another copy of the package. */
export function resolveFrom(file: string, specifier: string): string | undefined {
  try {
    return createRequire(file).resolve(specifier)
  } catch {
    return undefined
  }
}
