import { CommandFailure } from '../failure.ts'

/** What a check of the framework has thrown, for the one who typed it: its code in front says nothing to them. */
export function refusal(error: unknown): CommandFailure {
  const message = error instanceof Error ? error.message : String(error)
  return new CommandFailure(message.replace(/^[A-Z][A-Z_]*: /, ''), { usage: true, cause: error })
}
