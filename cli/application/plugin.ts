import { pathToFileURL } from 'node:url'
import type { Registration } from '../../kernel/index.ts'
import { orFail } from '../../plugins/shared/values/safely.ts'
import { CommandFailure } from '../failure.ts'
import { packageName } from '../package.ts'
import { type Application, resolveFrom } from './load.ts'

/**
 * Ensures that the server has a plugin, with defaults if the application has not registered it: jobs and subscribers
 * may be declared anywhere, and the plugin stops them when the server closes.
 *
 * The plugin comes from the application's own copy of the package, because that copy has the declarations.
 */
export async function ensurePlugin({ server, entry, file }: Application, name: 'cron' | 'queues'): Promise<void> {
  if (server.services.find(name) !== undefined) return
  const entryPoint = resolveFrom(file, `${packageName}/plugins/${name}`)
  if (entryPoint === undefined)
    throw new CommandFailure(`${entry} has no package "${packageName}": install the dependencies of its package.json`)
  const { [name]: plugin } = (await import(pathToFileURL(entryPoint).href)) as {
    readonly [plugin: string]: () => Registration
  }
  const tooLate = `${entry} booted its server during the import: add the plugin "${name}" to the server`
  orFail(
    () => server.register(plugin!()),
    () => new CommandFailure(tooLate),
  )
}
