/** An error in the form in which clients receive it. */
export interface SentError {
  readonly message: string
  readonly locations?: readonly object[]
  readonly path?: readonly (string | number)[]
  readonly extensions?: Readonly<Record<string, unknown>>
}

const longest = 500

/**
 * Returns a message about a client's input, shortened, since each error about a value repeats that value, and
 * without «Did you mean» if the schema is private, since that would reveal it word by word to a patient client.
 */
export function worded(message: string, hints: boolean): string {
  const text = hints ? message : message.replace(/ Did you mean .*$/s, '')
  return text.length > longest ? `${text.slice(0, longest)}…` : text
}

// A symbol rather than a name: the variables of a request are data, and could have a member with any name.
const refused = Symbol('refused')

/** Why a request is not executed. */
export interface Refusal {
  readonly [refused]: true
  /** The status; a response as `application/json` has 200 instead if `legacy` is set. */
  readonly status: number
  /** Whether the request was valid, but its document was not: clients of `application/json` then expect 200. */
  readonly legacy: boolean
  readonly errors: readonly SentError[]
  readonly allow?: string
}

/** Refuses a request because of its form. */
export function refuse(status: number, message: string, code = 'BAD_REQUEST', allow?: string): Refusal {
  return { ...refuseFailure(status, { message, extensions: { code } }), ...(allow && { allow }) }
}

/** Refuses a document, with the errors in it. */
export function refuseDocument(errors: readonly SentError[]): Refusal {
  return { [refused]: true, status: 400, legacy: true, errors }
}

/** Refuses a request because of one error, with all of its members. */
export function refuseFailure(status: number, error: SentError): Refusal {
  return { [refused]: true, status, legacy: false, errors: [error] }
}

export function isRefusal(value: unknown): value is Refusal {
  return (value as Partial<Refusal> | null | undefined)?.[refused] === true
}
