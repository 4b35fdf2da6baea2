import type { Command } from '../kernel/index.ts'
import { nearest } from '../kernel/support/nearest.ts'
import { CommandFailure } from './failure.ts'
import { printCommands, printHelp } from './help.ts'
import { type Output, outputTo, type Streams } from './output.ts'
import { version } from './package.ts'
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
  const command = await find(name, output)
  const end = rest.indexOf('--')
  const typed = end === -1 ? rest : rest.slice(0, end)
  if (typed.includes('--help') || typed.includes('-h')) {
    printHelp(output, command)
    return 0
  }
  const { readArguments } = await import('./arguments.ts')
  const input = await readArguments(name, command, rest)
  const code = await command.run({ ...input, print: output.print, note: output.note })
  return typeof code === 'number' ? code : 0
}

/** One of the framework's own, or one of the application's plugins, which are only asked when there is an application. */
async function find(name: string, output: Output): Promise<Command> {
  const own = ownCommands.find((one) => one.name === name)
  if (own !== undefined) return { name: own.name, description: own.description, ...(await own.load()) }
  const { applicationCommands } = await import('./application.ts')
  const theirs = await applicationCommands(output.note)
  const found = theirs.find((one) => one.name === name)
  if (found !== undefined) return found
  const close = nearest(
    name,
    [...ownCommands, ...theirs].map((one) => one.name),
  )
  const hint = close === undefined ? '"framework list" shows what there is' : `did you mean "${close}"?`
  throw new CommandFailure(`there is no command "${name}"; ${hint}`, { usage: true })
}

/** The message of an error; with `DEBUG` its stack too. */
function told(error: unknown, env: Streams['env']): string {
  if (!(error instanceof Error)) return String(error)
  return env.DEBUG ? (error.stack ?? error.message) : error.message
}
