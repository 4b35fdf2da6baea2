import { nearest } from '../kernel/support/nearest.ts'
import { messageOf } from '../plugins/shared/values/safely.ts'

/** Ends a command with a message for the user, without a stack. `usage` marks a typing mistake. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure'
  readonly exitCode: 1 | 2

  constructor(message: string, cause?: unknown, exitCode: 1 | 2 = 1) {
    super(message, cause === undefined ? undefined : { cause })
    this.exitCode = exitCode
  }
}

/** The failure of a command that was typed wrongly. */
export const wrongUsage = (message: string, cause?: unknown): CommandFailure => new CommandFailure(message, cause, 2)

/** Typed text, for messages: in quotes, on one line, and not longer than a line. */
export const quoted = (typed: string): string => JSON.stringify(typed.length > 80 ? `${typed.slice(0, 80)}…` : typed)

/** Choices, for messages. */
export const inWords = (choices: readonly string[]): string => `${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}`

/** The choice that was typed. @throws CommandFailure for another one, naming the nearest. */
export function oneOf<Choice extends string>(
  what: string,
  typed: string,
  choices: readonly Choice[],
  meant = typed,
): Choice {
  const found = choices.find((choice) => choice === meant)
  if (found !== undefined) return found
  const close = nearest(meant, choices)
  const hint = close === undefined ? '' : `; did you mean ${close}?`
  throw wrongUsage(`${what} takes ${inWords(choices)}, not ${quoted(typed)}${hint}`)
}

/** An error from one of the framework's checks, for the user. */
export const refusal = (error: unknown): CommandFailure => wrongUsage(messageOf(error), error)
