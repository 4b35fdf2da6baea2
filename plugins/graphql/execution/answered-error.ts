/** An error in the form of an answer. */
export interface AnsweredError {
  readonly message: string
  readonly locations?: readonly object[]
  readonly path?: readonly (string | number)[]
  readonly extensions?: Readonly<Record<string, unknown>>
}

const longest = 500

/**
 * A message about a client's input: shortened, since each error about a value repeats it, and
 * without «Did you mean» where the schema is private, since that would reveal it word by word to a patient client.
 */
export function worded(message: string, hints: boolean): string {
  const text = hints ? message : message.replace(/ Did you mean .*$/s, '')
  return text.length > longest ? `${text.slice(0, longest)}…` : text
}

// A symbol and not a name: the variables of a request are data, and could have a member of any name.
const refused = Symbol('refused')

/** Why a request is not executed. */
export interface Refusal {
  readonly [refused]: true
  /** The status; of `application/json` it is 200 where `legacy` is set. */
  readonly status: number
  /** The request was understood and its document was not: clients of `application/json` expect 200. */
  readonly legacy: boolean
  readonly errors: readonly AnsweredError[]
  readonly allow?: string
}

/** Refuses a request for its form. */
export function refuse(status: number, message: string, code = 'BAD_REQUEST', allow?: string): Refusal {
  return {
    [refused]: true,
    status,
    legacy: false,
    errors: [{ message, extensions: { code } }],
    ...(allow && { allow }),
  }
}

/** Refuses a document. */
export function refuseDocument(errors: readonly AnsweredError[]): Refusal {
  return { [refused]: true, status: 400, legacy: true, errors }
}

/** Refuses a request because of a failure in the server. */
export function refuseFailure(status: number, error: AnsweredError): Refusal {
  return { [refused]: true, status, legacy: false, errors: [error] }
}

export function isRefusal(value: unknown): value is Refusal {
  return (value as Partial<Refusal> | null | undefined)?.[refused] === true
}
