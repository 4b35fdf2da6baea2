import { inWords, oneOf, quoted, wrongUsage } from '../failure.ts'
import type { Prompts } from './prompts.ts'

/**
 * One of several choices, from a flag or from the user at the terminal; `undefined` if the question was cancelled.
 *
 * @throws (as a rejection) CommandFailure for an unknown choice, naming the nearest one, and if there is no terminal.
 */
export async function askedOneOf<Choice extends string>(
  flag: string,
  given: string | undefined,
  choices: readonly [Choice, ...Choice[]],
): Promise<Choice | undefined> {
  if (given !== undefined) return oneOf(flag, given, choices)
  const question = `Which ${flag.replace(/^-+/, '')}?`
  if (canAsk()) return asking((prompts) => prompts.choice(question, choices, choices[0]))
  throw wrongUsage(`${flag} is missing: ${inWords(choices)}`)
}

/** Whether a user can see and answer the questions. */
export const canAsk = (): boolean =>
  !process.env.CI && [process.stdin, process.stdout, process.stderr].every((stream) => stream.isTTY === true)

/** Asks questions on the terminal; `undefined` if one of them was cancelled. */
export async function asking<Answer>(ask: (prompts: Prompts) => Promise<Answer>): Promise<Answer | undefined> {
  const { Cancelled, openPrompts } = await import('./prompts.ts')
  try {
    return await ask(openPrompts(process.stdin, process.stderr))
  } catch (error) {
    if (error instanceof Cancelled) return undefined
    throw error
  }
}

/** Whether the user types a name again, before a change that cannot be undone; `false` if the question was cancelled. */
export async function typesAgain(name: string, change: string): Promise<boolean> {
  const check = (typed: string) => (typed === name.trim() ? undefined : `That is not ${quoted(name)}. Ctrl+C cancels`)
  const question = `Type ${quoted(name)} to ${change}`
  return (await asking((prompts) => prompts.text(question, '', check))) !== undefined
}

/** The result of a command whose question was cancelled: the exit code of Ctrl+C. */
export function cancelled(note: (line: string) => void, change = 'written'): number {
  note(`\nCancelled: nothing was ${change}.`)
  return 130
}
