import { existsSync } from 'node:fs'

/** Where the commands of an application are. */
const folders = ['src/commands', 'commands'] as const
/** Where they are when only what was built is there. */
const builtFolder = 'dist/commands'

/** The folders of this application that have its commands. */
export function commandFolders(): readonly string[] {
  const sources = folders.filter((folder) => existsSync(folder))
  return sources.length > 0 ? sources : [builtFolder].filter((folder) => existsSync(folder))
}
