import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { CommandInput } from '../../plugins/shared/development/command-definition.ts'
import { findProject, type PackageManager, projectRoot } from '../project/project.ts'
import { writeFiles } from '../scaffold/files.ts'
import { extraFiles } from './files.ts'
import { type Extra, frameworkFrom, ownName, type Part, vendored } from './settings.ts'

/** Whether a folder is already a project with an application, to which `init` only adds files. */
export const hasServer = (folder: string): boolean =>
  projectRoot(folder) === folder && existsSync(join(folder, 'src/server.ts'))

/** The folder of each optional part. */
const folders: Readonly<Record<Part, string>> = { mqtt: 'src/mqtt', cron: 'src/crons', graphql: 'src/graphql' }

/** Writes the files next to the code into an existing project, and nothing else. */
export function addExtras(
  root: string,
  extras: ReadonlySet<Extra>,
  typedManager: PackageManager | undefined,
  { flags, print, note }: Pick<CommandInput, 'flags' | 'print' | 'note'>,
): void {
  const packageManager = typedManager ?? findProject(root).packageManager
  const settings = {
    folder: root,
    name: ownName(root),
    packageManager,
    parts: new Set((Object.keys(folders) as Part[]).filter((part) => existsSync(join(root, folders[part])))),
    extras,
    // A copy of the framework is also in the image.
    framework: existsSync(join(root, 'vendor'))
      ? vendored(packageManager)
      : frameworkFrom(undefined, root, packageManager),
  }
  const about = { folder: root, name: settings.name, packageManager, parts: [...settings.parts] }
  writeFiles(root, extraFiles(settings), { flags, print }, about)
  const names = [...extras].map((extra) => `--${extra}`).join(' and ')
  note(`src/server.ts already exists: only the files of ${names} are added.`)
}
