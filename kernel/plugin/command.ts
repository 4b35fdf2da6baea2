/** One option of a command: `--name value`, or `--name` alone for `boolean`. */
export interface CommandFlag {
  readonly type: 'string' | 'number' | 'boolean'
  readonly short?: string
  readonly description?: string
  /** What stands for the value in the help: `file` gives `--out <file>`. */
  readonly value?: string
  readonly default?: string | number | boolean
}

/** One positional argument of a command. */
export interface CommandArgument {
  readonly name: string
  readonly description?: string
  readonly required?: boolean
}

/** What a command is run with. */
export interface CommandInput {
  readonly arguments: { readonly [name: string]: string | undefined }
  readonly flags: { readonly [name: string]: string | number | boolean | undefined }
  /** Writes a line of the result, to standard output. */
  print(line: string): void
  /** Writes a line about the result, to standard error: what is piped on does not have it. */
  note(line: string): void
}

/** A command that a plugin contributes to the command line: data, so that it can be listed without booting anything. */
export interface Command {
  readonly name: string
  /** One line, for the list. */
  readonly description: string
  /** What the help of this command says beyond that. */
  readonly details?: string
  readonly arguments?: readonly CommandArgument[]
  readonly flags?: { readonly [name: string]: CommandFlag }
  /** Does it; the number is the exit code, 0 without one. A throw is exit code 1 with the message. */
  run(input: CommandInput): void | number | Promise<void | number>
}
