import { relative, resolve } from 'node:path'
import { projectRoot } from './project.ts'

/** The folder in which the command was typed, if it works in another one. */
let typedIn: string | undefined

/**
 * Makes the process work in the folder of the project from here on, as scripts of a `package.json` do: an application finds
 * its files from there. Returns that folder if it is a different one; without a project, nothing changes.
 */
export function enterProject(): string | undefined {
  const here = process.cwd()
  const root = projectRoot(here)
  typedIn = undefined
  if (root === undefined || root === here) return undefined
  process.chdir(root)
  typedIn = here
  // The variable that npm also sets.
  process.env.INIT_CWD = here
  return root
}

/** A typed path, resolved for the folder in which the command works. */
export function typedPath(path: string): string {
  return typedIn === undefined ? path : relative(process.cwd(), resolve(typedIn, path)) || '.'
}

/** A path for the next command: relative to the folder in which this one was typed. */
export const fromHere = (path: string): string => relative(typedIn ?? process.cwd(), resolve(path)) || '.'
