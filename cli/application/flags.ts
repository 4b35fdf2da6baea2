import type { CommandFlags } from '../../plugins/shared/development/command-definition.ts'
import { wrongUsage } from '../failure.ts'
import { typedPath } from '../project/project.ts'
import { number, text } from '../run/own-command.ts'
import { defaultTimeout } from './guard.ts'
import { type Application, type ApplicationOptions, loadApplication } from './load.ts'

/** The flags of every command about an application. */
export const applicationFlags = {
  entry: text('file', 'The module that exports the server (default src/server.ts, server.ts, …)'),
  export: text('name', 'The name of the export: a server, or a function that returns one'),
  timeout: number('seconds', 'How long importing the module may take', { default: defaultTimeout }),
} as const

/** Imports the application that the flags name. */
export function applicationOf(
  flags: CommandFlags<typeof applicationFlags>,
  rules: Pick<ApplicationOptions, 'mayListen'> = {},
): Promise<Application> {
  return loadApplication({
    ...rules,
    entry: flags.entry ? typedPath(flags.entry) : undefined,
    export: flags.export || undefined,
    timeout: secondsOf(flags.timeout),
  })
}

/** Reads a number of seconds: timers cannot wait longer than a maximum, and no one means such a limit. */
function secondsOf(value: number): number {
  if (value > 0 && value <= 86_400) return value
  throw wrongUsage(`--timeout takes seconds, more than 0 and at most a day, not ${value}`)
}
