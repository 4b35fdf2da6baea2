import { existsSync } from 'node:fs'

/** The folders for the commands of an application. */
const folders = ['src/commands', 'commands'] as const
/** The folder for commands if only a build exists. */
const builtFolder = 'dist/commands'

/** The folders of this application that have its commands. */
export function commandFolders(): readonly string[] {
  const sources = folders.filter((folder) => existsSync(folder))
  return sources.length > 0 ? sources : [builtFolder].filter((folder) => existsSync(folder))
}
