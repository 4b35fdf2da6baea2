import { pathToFileURL } from 'node:url'
import type { Kernel, Registration } from '../../kernel/index.ts'
import type { CommandInput } from '../../plugins/shared/development/command-definition.ts'
import { CommandFailure } from '../failure.ts'
import { packageName } from '../package.ts'
import { endWithScript } from '../run/orphan.ts'
import { sendLogsTo } from '../run/standard-output.ts'
import { type applicationFlags, applicationOf } from './flags.ts'
import { type Application, resolveFrom } from './load.ts'

/** Boots the application of a command that keeps running, for the work of one plugin. */
export async function bootInBackground(
  { flags, note, boot }: Pick<CommandInput<{ readonly flags: typeof applicationFlags }>, 'flags' | 'note' | 'boot'>,
  plugin: 'cron' | 'queues',
) {
  // As in a server: people watch the logs of such a process.
  sendLogsTo('stdout')
  const application = await applicationOf(flags)
  await ensurePlugin(application, plugin)
  // Before anything is started that must be stopped.
  const ended = watchForEnd(application.server, note)
  await boot(application.server)
  return {
    ...application,
    /** Resolves when the process is asked to end, or the server closes. */
    ended,
  }
}

/**
 * Ensures that the server has a plugin, with defaults if the application has not registered it: jobs and subscribers
 * may be declared anywhere, and the plugin stops them when the server closes.
 *
 * The plugin comes from the application's own copy of the package, because that copy has the declarations.
 */
async function ensurePlugin({ server, entry, file }: Application, name: 'cron' | 'queues'): Promise<void> {
  if (server.services.find(name) !== undefined) return
  const entryPoint = resolveFrom(file, `${packageName}/plugins/${name}`)
  if (entryPoint === undefined)
    throw new CommandFailure(`${entry} has no package "${packageName}": install the dependencies of its package.json`)
  const { [name]: plugin } = (await import(pathToFileURL(entryPoint).href)) as {
    readonly [plugin: string]: () => Registration
  }
  try {
    server.register(plugin!())
  } catch (error) {
    throw new CommandFailure(`${entry} booted its server during the import: add the plugin "${name}" to the server`, {
      cause: error,
    })
  }
}

const signals = { SIGINT: 130, SIGTERM: 143 } as const

/**
 * Watches for the end of a command that keeps running: call it before starting anything that must be stopped, and await the result
 * afterwards. It resolves when the process is asked to end, or the server closes; a second signal ends the process immediately.
 */
function watchForEnd(server: Kernel, note: (line: string) => void): Promise<void> {
  endWithScript()
  return new Promise((resolve) => {
    let isAsked = false
    // There may be nothing else that keeps the process alive, for example if all jobs were stopped.
    const awake = setInterval(() => {}, 2 ** 30)
    const end = () => {
      clearInterval(awake)
      resolve()
    }
    for (const [signal, code] of Object.entries(signals)) {
      process.on(signal, () => {
        if (isAsked) process.exit(code)
        isAsked = true
        note(`${signal}: waiting for running work; send it again to stop immediately`)
        end()
      })
    }
    server.closing.addEventListener('abort', end, { once: true })
  })
}
