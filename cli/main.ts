import type { Command } from '../kernel/index.ts'
import { CommandFailure } from './failure.ts'
import { printCommands, printHelp } from './help.ts'
import { type Output, outputTo, type Streams } from './output.ts'
import { version } from './package.ts'
import { sendLogsTo } from './quiet.ts'
import { ownCommands } from './registry.ts'

/**
 * Runs one command and resolves with the exit code: 0, 1 for what failed, 2 for what was typed wrongly.
 *
 * Standard output has results, standard error everything else. A failure is told by its message; `DEBUG` adds the stack.
 */
export async function main(argv: readonly string[], streams: Streams): Promise<number> {
  const output = outputTo(streams)
  let code: number
  try {
    code = await dispatch(argv, output)
  } catch (error) {
    output.fail(told(error, streams.env))
    code = error instanceof CommandFailure ? error.exitCode : 1
  }
  await output.flushed()
  return code
}

async function dispatch([name = '', ...rest]: readonly string[], output: Output): Promise<number> {
  if (name === '-v' || name === '--version') {
    output.print(version())
    return 0
  }
  if (['', '-h', '--help', 'help'].includes(name)) {
    // `framework help serve` is what some type.
    if (name === 'help' && rest[0] !== undefined) return dispatch([rest[0], '--help'], output)
    printCommands(output)
    return name === '' ? 2 : 0
  }
  if (name.startsWith('-')) {
    throw new CommandFailure(`there is no ${name} before a command; "framework --help" shows what there is`, {
      usage: true,
    })
  }
  sendLogsTo('stderr')
  const command = await find(name, output)
  const end = rest.indexOf('--')
  const typed = end === -1 ? rest : rest.slice(0, end)
  if (typed.includes('--help') || typed.includes('-h')) {
    printHelp(output, command)
    return 0
  }
  const { runCommand } = await import('./run-command.ts')
  return runCommand(command, rest, output)
}

/** One of the framework's own, or one of the application, whose files are only imported for a name that is not one of these. */
async function find(name: string, output: Output): Promise<Command> {
  const own = ownCommands.find((one) => one.name === name)
  if (own !== undefined) return { name: own.name, description: own.description, ...(await own.load()) }
  const { findCommand } = await import('./find-command.ts')
  return findCommand(name, output.note)
}

/** The message of an error; with `DEBUG` its stack too. */
function told(error: unknown, env: Streams['env']): string {
  if (!(error instanceof Error)) return String(error)
  return env.DEBUG ? (error.stack ?? error.message) : error.message
}
