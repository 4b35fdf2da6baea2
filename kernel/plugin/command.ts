/** One option of a command: `--name value`, or `--name` alone for `boolean`. */
export interface CommandFlag {
  readonly type: 'string' | 'number' | 'boolean'
  readonly short?: string
  readonly description?: string
  readonly default?: string | number | boolean
}

/** One positional argument of a command. */
export interface CommandArgument {
  readonly name: string
  readonly description?: string
  readonly required?: boolean
}

/** A command that a plugin contributes to the command line: data, so that it can be listed without booting anything. */
export interface Command {
  readonly name: string
  readonly description: string
  readonly arguments?: readonly CommandArgument[]
  readonly flags?: { readonly [name: string]: CommandFlag }
  run(input: {
    readonly arguments: { readonly [name: string]: string | undefined }
    readonly flags: { readonly [name: string]: string | number | boolean | undefined }
  }): void | number | Promise<void | number>
}
