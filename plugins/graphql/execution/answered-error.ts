/** An error as it is answered. */
export interface AnsweredError {
  readonly message: string
  readonly locations?: readonly object[]
  readonly path?: readonly (string | number)[]
  readonly extensions?: Readonly<Record<string, unknown>>
}

const longest = 500

/**
 * A message about what a client has sent: without all of it, since a value is repeated in each error about it, and
 * without «Did you mean» where the schema is no one's business, since that tells it to a patient asker word by word.
 */
export function worded(message: string, hints: boolean): string {
  const told = hints ? message : message.replace(/ Did you mean .*$/s, '')
  return told.length > longest ? `${told.slice(0, longest)}…` : told
}

// No name: the variables of a request are data, and could have a member of any name.
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

/** Refuses a request for what it is. */
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

/** Refuses what the server failed to prepare. */
export function refuseFailure(status: number, error: AnsweredError): Refusal {
  return { [refused]: true, status, legacy: false, errors: [error] }
}

export function isRefusal(value: unknown): value is Refusal {
  return (value as Partial<Refusal> | null | undefined)?.[refused] === true
}
