/** What the kernel needs of a Standard Schema (https://standardschema.dev). */
export interface StandardCheck<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    validate(value: unknown): StandardResult | Promise<StandardResult>
    /** Exists for the type checker only. */
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
  }
}

type StandardResult =
  | { readonly value: unknown; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] }

interface StandardIssue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}
