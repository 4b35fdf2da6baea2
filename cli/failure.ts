/** Ends a command with a message for the one who typed it, without a stack. `usage` is for what was typed wrongly. */
export class CommandFailure extends Error {
  readonly exitCode: 1 | 2

  constructor(message: string, options: { usage?: boolean; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'CommandFailure'
    this.exitCode = options.usage === true ? 2 : 1
  }
}

/** What someone has typed, as messages show it: in quotes, on one line, and not longer than a line. */
export const quoted = (typed: string): string => JSON.stringify(typed.length > 80 ? `${typed.slice(0, 80)}…` : typed)
