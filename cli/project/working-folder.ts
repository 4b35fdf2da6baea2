import { relative, resolve } from 'node:path'
import { projectRoot } from './project.ts'

/** Where the command was typed, when that is not where it works. */
let typedIn: string | undefined

/**
 * From here on the process works in the folder of the project, as scripts of a `package.json` do: an application looks for
 * its files from there. Returns that folder when it is another one; without a project everything stays where it is.
 */
export function enterProject(): string | undefined {
  const here = process.cwd()
  const root = projectRoot(here)
  typedIn = undefined
  if (root === undefined || root === here) return undefined
  process.chdir(root)
  typedIn = here
  // As npm calls it.
  process.env.INIT_CWD = here
  return root
}

/** A path as it was typed, for the folder that the command works in. */
export function typedPath(path: string): string {
  return typedIn === undefined ? path : relative(process.cwd(), resolve(typedIn, path)) || '.'
}

/** A path for whoever types the next command: from the folder in which this one was typed. */
export const fromHere = (path: string): string => relative(typedIn ?? process.cwd(), resolve(path)) || '.'
