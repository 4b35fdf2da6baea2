import { createRequire } from 'node:module'
import { safely } from '../../plugins/shared/values/safely.ts'

/** The file to which a name resolves for a module of the application: it may belong to another copy of the package. */
export function resolveFrom(file: string, specifier: string): string | undefined {
  return safely(() => createRequire(file).resolve(specifier))
}
