import { join } from 'node:path'
import { option, type SettingsOf } from '../../plugins/shared/options/index.ts'
import { CommandFailure } from '../failure.ts'
import { programName } from '../package.ts'
import { readManifest } from './project.ts'

const settings = option.shape({ start: option.name(), server: option.name(), export: option.name() })

/**
 * Where the application is, if it is not in the usual places: the member of its `package.json` with the name of this program. `start`
 * is the module that calls `listen()`, `server` the one that exports the server, and `export` the name of that export.
 *
 * @throws CommandFailure with the mistakes in it.
 */
export function projectSettings(folder: string = process.cwd()): SettingsOf<typeof settings> {
  const given = readManifest(join(folder, 'package.json'))[programName]
  try {
    return settings.parse(given ?? {}, programName)
  } catch (error) {
    throw new CommandFailure((error as Error).message.replace(/^\w+: /, 'package.json: '), { cause: error })
  }
}
