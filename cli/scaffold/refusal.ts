import { type CommandFailure, wrongUsage } from '../failure.ts'

/** An error from one of the framework's checks, for the user: without its code, which users do not need. */
export function refusal(error: unknown): CommandFailure {
  const message = error instanceof Error ? error.message : String(error)
  return wrongUsage(message.replace(/^[A-Z][A-Z_]*: /, ''), error)
}
