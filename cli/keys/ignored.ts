import { existsSync, lstatSync, realpathSync } from 'node:fs'
import { basename, join } from 'node:path'
import { git } from '../../plugins/shared/environment/git.ts'
import { shellWord } from '../printable.ts'
import { above, isInside, projectRoot } from '../project/project.ts'
import type { ScaffoldFile } from '../scaffold/files.ts'
import { ignoring } from '../scaffold/ignore.ts'
import { textOf } from '../text-file.ts'

/** The place of the existing or future `.gitignore` for the contents of a folder, and the surrounding repository, if there is one. */
type IgnorePlace = ReturnType<typeof ignorePlace>

/**
 * The nearest folder upwards with a `.gitignore`, within the repository or, outside a repository, the project. If no folder has
 * one: in a repository, the folder of the project, or the top; outside a repository, the folder itself.
 */
export function ignorePlace(folder: string) {
  const repository = repositoryOf(folder)
  const project = projectRoot(folder)
  const top = repository ?? project ?? folder
  const hasFile = (one: string) => lstatSync(join(one, '.gitignore'), { throwIfNoEntry: false }) !== undefined
  const nearest = above(folder).find((one) => isInside(top, one) && hasFile(one))
  if (nearest !== undefined) return { folder: nearest, repository }
  if (repository === undefined) return { folder, repository }
  // A package.json above the repository is that of another project.
  return { folder: project !== undefined && isInside(repository, project) ? project : repository, repository }
}

/** The repository of a folder, which does not have to exist yet: for a link, the place of its target counts and not its own. */
export function repositoryOf(folder: string): string | undefined {
  const there = above(folder).find((one) => existsSync(one))
  return there && above(realpathSync(there)).find((one) => existsSync(join(one, '.git')))
}

/** The file to write, and the notes to print, so that git ignores a path in the folder of a place. */
export function leaveOut({ folder, repository }: IgnorePlace, path: string): { file?: ScaffoldFile; notes: string[] } {
  const ignoreFile = join(folder, '.gitignore')
  const found = lstatSync(ignoreFile, { throwIfNoEntry: false })
  if (repository === undefined && found === undefined) return { notes: [outsideNote(folder, path)] }
  if (repository !== undefined && gitIgnores(folder, path) === true) return { notes: [] }
  // Git does not follow links to a `.gitignore`.
  if (found !== undefined && !found.isFile()) {
    const warning = `Warning: ${ignoreFile} is not a regular file, so git does not ignore ${path}`
    return { notes: [`${warning}: make it a regular file with the line ${lineFor(path)}`] }
  }
  const before = textOf(ignoreFile) ?? ''
  const text = ignoring(before, [lineFor(path)])
  return text === before ? { notes: [] } : { file: { path: '.gitignore', text, existing: 'update' }, notes: [] }
}

export const outsideNote = (folder: string, path: string): string =>
  `${folder} is not in a git repository: before you create one, add the line ${lineFor(path)} to its .gitignore`

/**
 * Notes about files that git would still publish once they and the `.gitignore` are written. `unless` says which files
 * need no note: those that git ignores or, after a line was written, also those for which git gives no response.
 */
export function publishedNotes(folder: string, paths: readonly string[], unless: 'not seen' | 'ignored'): string[] {
  return paths.flatMap((path) => {
    if (git(['ls-files', '--error-unmatch', '--', path], { folder }).status === 0) {
      return `Warning: git already tracks ${path}, so .gitignore has no effect on it: git rm --cached ${shellWord(path)}`
    }
    const ignored = gitIgnores(folder, path)
    if (ignored === true || (ignored === undefined && unless === 'not seen')) return []
    const nearest = join(folder, path, '..', '.gitignore')
    return `Warning: git does not ignore ${path}: add the line ${lineFor(basename(path))} to the end of ${nearest}`
  })
}

/** Whether git ignores a path; `undefined` if git is not installed, or does not recognise this repository. */
export function gitIgnores(folder: string, path: string): boolean | undefined {
  const { status } = git(['check-ignore', '--quiet', '--no-index', '--', path], { folder })
  return status === 0 || status === 1 ? status === 0 : undefined
}

/** A path in the spelling of a `.gitignore`, where #, !, \, *, ?, [ and a blank at the end have a meaning. */
const lineFor = (path: string) =>
  path
    .replace(/[\\*?[]/g, '\\$&')
    .replace(/^[#!]/, '\\$&')
    .replace(/ (?=\/?$)/, '\\ ')
