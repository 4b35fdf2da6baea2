/** Ends a command with a message for the one who typed it, without a stack. `usage` is for what was typed wrongly. */
export class CommandFailure extends Error {
  readonly exitCode: 1 | 2

  constructor(message: string, options: { usage?: boolean; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'CommandFailure'
    this.exitCode = options.usage === true ? 2 : 1
  }
}
