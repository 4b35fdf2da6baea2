/** One mistake in a value. */
export interface Issue {
  /** A JSON pointer (RFC 6901) into the value; `''` is the value itself. */
  path: string
  /** The rule that the value breaks, by its name in JSON Schema: `minLength`, `required`. */
  keyword: string
  /** What is wrong, for people: `must be a number`. */
  message: string
  /** What the rule requires: `{ limit: 3 }`. */
  params: Record<string, unknown>
}

/** The result of a check for one value. */
export type Verdict =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly issues: readonly Issue[]; readonly cause: unknown }

/** A compiled schema. It returns a promise only if the validator is asynchronous. */
export type Check = (value: unknown) => Verdict | Promise<Verdict>

/**
 * How a schema is applied.
 *
 * `body` fills in defaults and removes members that `additionalProperties: false` refuses, in the value itself · `text`
 * also coerces, for input that arrives as strings · `headers` is the same with names in lower case · `exact` changes nothing.
 */
export type Mode = 'body' | 'text' | 'headers' | 'exact'

/** The part of Standard Schema version 1 (Zod, Valibot, ArkType, …) that is used here: https://standardschema.dev. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
  }
}

export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] }

export interface StandardIssue {
  readonly message: string
  /** A list according to the specification; VineJS 4 has a string with dots. */
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | string | undefined
}

/** The maximum number of issues for one value. */
export const maxIssues = 20

/** The pointer of a path of keys. */
export const pointerOf = (path: readonly PropertyKey[]): string =>
  path.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')

/** The first issue in words, for errors that have one sentence. */
export const firstInWords = ([first]: readonly Issue[]): string =>
  first === undefined ? 'it does not match' : `${first.path || 'the value'}: ${first.message}`
