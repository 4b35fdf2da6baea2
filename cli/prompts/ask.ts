import { nearest } from '../../kernel/support/nearest.ts'
import { CommandFailure, quoted } from '../failure.ts'

/**
 * One of several, from a flag, or from whoever sits at the terminal; `undefined` when the question was left.
 *
 * @throws (as a rejection) CommandFailure for what is none of them, naming the nearest, and where no one can be asked.
 */
export async function oneOf<Choice extends string>(
  flag: string,
  given: string | undefined,
  choices: readonly [Choice, ...Choice[]],
): Promise<Choice | undefined> {
  const all = `${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}`
  if (given === undefined) {
    if (canAsk()) return ask(`Which ${flag.replace(/^-+/, '')}?`, choices)
    throw new CommandFailure(`${flag} is missing: ${all}`, { usage: true })
  }
  const found = choices.find((choice) => choice === given)
  if (found !== undefined) return found
  const close = nearest(given, choices)
  const hint = close === undefined ? '' : `; did you mean ${close}?`
  throw new CommandFailure(`${flag} takes ${all}, not ${quoted(given)}${hint}`, { usage: true })
}

/** Whether someone sees the questions and can answer them. */
export const canAsk = (): boolean =>
  !process.env.CI && [process.stdin, process.stdout, process.stderr].every((stream) => stream.isTTY === true)

async function ask<Choice extends string>(
  question: string,
  choices: readonly [Choice, ...Choice[]],
): Promise<Choice | undefined> {
  const { Cancelled, openPrompts } = await import('./prompts.ts')
  const prompts = openPrompts(process.stdin, process.stderr)
  try {
    return await prompts.choice(question, choices, choices[0])
  } catch (error) {
    if (error instanceof Cancelled) return undefined
    throw error
  }
}

/** What a command ends with when its question was left: the exit code of Ctrl+C. */
export function cancelled(note: (line: string) => void): number {
  note('\nCancelled: nothing was written.')
  return 130
}
