import { inspect } from 'node:util'
import { nearest } from '../kernel/support/nearest.ts'
import type { CommandDefinition } from '../plugins/shared/development/command-definition.ts'
import { CommandFailure, quoted, wrongUsage } from './failure.ts'
import { examples, printCommands, printHelp } from './help.ts'
import { type Output, outputTo, type Streams } from './output.ts'
import { manifest, programName } from './package.ts'
import { enterProject } from './project/project.ts'
import { groupOf, type OwnName, ownCommands, ownGroups } from './registry.ts'
import type { OwnCommandBody } from './run/own-command.ts'
import { sendLogsTo } from './run/standard-output.ts'

/**
 * Runs one command and resolves with the exit code: 0, 1 for a failure, 2 for a typing mistake.
 *
 * Results go to standard output, everything else to standard error. A failure is reported with its message; `DEBUG` adds the stack.
 */
export async function main(argv: readonly string[], streams: Streams): Promise<number> {
  const output = outputTo(streams)
  let code: number
  try {
    code = await dispatch(argv, output)
  } catch (error) {
    output.fail(messageOf(error, streams.env))
    code = error instanceof CommandFailure ? error.exitCode : 1
    if (code === 1) {
      const { explanation, thrownOf } = await import('../plugins/shared/terminal/error-lines.ts')
      const page = explanation(thrownOf(error))
      if (page !== undefined) output.note(page)
    }
  }
  const lost = await output.flushed()
  if (lost === undefined) return code
  output.fail(`standard output: ${lost.message}`)
  return code || 1
}

async function dispatch(argv: readonly string[], output: Output): Promise<number> {
  const [name = '', ...rest] = argv
  if (name === '-v' || name === '--version') {
    output.print(manifest.version)
    return 0
  }
  if (['', '-h', '--help', 'help'].includes(name)) {
    // Some people type `framework help serve`.
    if (name === 'help' && rest[0] !== undefined) return dispatch([...rest, '--help'], output)
    printCommands(output, ownGroups, examples)
    return name === '' ? 2 : 0
  }
  if (name.startsWith('-')) {
    const close = nearest(name, ['--help', '--version'])
    const hint = close === undefined ? `"${programName} --help" lists the commands` : `did you mean ${close}?`
    throw wrongUsage(`there is no ${name} before a command; ${hint}`)
  }
  const group = groupOf(name)
  if (group.length === 0) return run(name, rest, output)
  const [second, ...others] = rest
  if (second !== undefined && !['-h', '--help'].includes(second))
    return run(memberOf(group, name, second), others, output)
  printCommands(output, [{ heading: '', commands: group }])
  return second === undefined ? 2 : 0
}

/** The command of two words. @throws CommandFailure with the nearest one. */
function memberOf(group: typeof ownCommands, word: string, second: string): string {
  const name = `${word} ${second}`
  const names = group.map((one) => one.name)
  if (names.some((one) => one === name)) return name
  const close = nearest(name, names)
  const hint = close === undefined ? `"${programName} ${word} --help" lists them` : `did you mean "${close}"?`
  throw wrongUsage(`there is no command ${quoted(name)}; ${hint}`)
}

async function run(name: string, rest: readonly string[], output: Output): Promise<number> {
  sendLogsTo('stderr')
  // It ignores the surrounding project, because it makes one.
  const root = name === 'init' ? undefined : enterProject()
  const command = await find(name, output)
  const end = rest.indexOf('--')
  const typed = end === -1 ? rest : rest.slice(0, end)
  if (typed.includes('--help') || typed.includes('-h')) {
    printHelp(output, command)
    return 0
  }
  if (root !== undefined) output.note(`In ${root}`)
  const { runCommand } = await import('./run/run-command.ts')
  return runCommand(command, rest, output)
}

/** Finds one of the framework's own commands, or one of the application, whose files are imported only for other names. */
async function find(name: string, output: Output): Promise<CommandDefinition> {
  const own = ownCommands.find((one) => one.name === name)
  if (own !== undefined) return { ...own, ...(await load[own.name]()) }
  const { findCommand } = await import('./user-commands/find.ts')
  return findCommand(name, output.note)
}

/** The message of an error; with `DEBUG`, also its stack. Any value can be thrown, even without a message, such as an AggregateError. */
function messageOf(error: unknown, env: Streams['env']): string {
  if (!(error instanceof Error)) return typeof error === 'string' ? error : inspect(error)
  if (env.DEBUG) return error.stack ?? error.message
  if (error instanceof AggregateError && !error.message)
    return error.errors.map((one) => messageOf(one, env)).join('; ')
  return error.message || error.name
}

const generators = () => import('./commands/generate.ts')
const inits = () => import('./commands/init-plugin.ts')
const queues = () => import('./commands/queue.ts')

/** Loads a command of the framework. The list of commands does not import this file: some commands need the list. */
export const load: Readonly<Record<OwnName, () => Promise<OwnCommandBody>>> = {
  list: async () => (await import('./commands/list.ts')).list,
  serve: async () => (await import('./commands/serve.ts')).serve,
  start: async () => (await import('./commands/start.ts')).start,
  rehearse: async () => (await import('./commands/rehearse.ts')).rehearse,
  build: async () => (await import('./commands/build.ts')).build,
  routes: async () => (await import('./commands/routes.ts')).routes,
  explain: async () => (await import('./commands/explain.ts')).explain,
  docs: async () => (await import('./commands/docs.ts')).docs,
  access: async () => (await import('./commands/access.ts')).access,
  migrate: async () => (await import('./commands/migrate.ts')).migrate,
  plugins: async () => (await import('./commands/plugins.ts')).plugins,
  doctor: async () => (await import('./commands/doctor.ts')).doctor,
  'cron-start': async () => (await import('./commands/background.ts')).cronStart,
  'queue-start': async () => (await import('./commands/background.ts')).queueStart,
  'queue list': async () => (await queues()).queueList,
  'queue show': async () => (await queues()).queueShow,
  'queue retry': async () => (await queues()).queueRetry,
  'queue remove': async () => (await queues()).queueRemove,
  'queue empty': async () => (await queues()).queueEmpty,
  'queue pause': async () => (await queues()).queuePause,
  'queue resume': async () => (await queues()).queueResume,
  init: async () => (await import('./commands/init.ts')).init,
  'key-generate': async () => (await import('./commands/key-generate.ts')).keyGenerate,
  'generate-controller': async () => (await generators()).generateController,
  'generate-middleware': async () => (await generators()).generateMiddleware,
  'generate-plugin': async () => (await import('./commands/generate-plugin.ts')).generatePlugin,
  'generate-cron': async () => (await generators()).generateCron,
  'generate-queue': async () => (await generators()).generateQueue,
  'generate-mqtt': async () => (await generators()).generateMqtt,
  'generate-command': async () => (await generators()).generateCommand,
  'init-queue': async () => (await inits()).initQueue,
  'init-mailer': async () => (await inits()).initMailer,
  'init-database': async () => (await inits()).initDatabase,
  'init-storage': async () => (await inits()).initStorage,
  'init-auth': async () => (await inits()).initAuth,
  'generate-sdk': async () => (await import('./commands/generate-sdk.ts')).generateSdk,
}
