const statuses = {
  BookNotFoundError: 404,
  CoverNotFoundError: 404,
  LoanNotFoundError: 404,
  BookLentError: 409,
} as const

export type RefusalCode = keyof typeof statuses

/** A request that the rules of the library forbid. The error handler answers it with its status. */
export class Refusal extends Error {
  readonly code: RefusalCode

  constructor(code: RefusalCode, message: string) {
    super(message)
    this.name = 'Refusal'
    this.code = code
  }

  get status(): number {
    return statuses[this.code]
  }
}

export function refuse(code: RefusalCode, message: string): never {
  throw new Refusal(code, message)
}
