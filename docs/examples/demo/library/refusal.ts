const statuses = {
  'no-such-book': 404,
  'no-such-cover': 404,
  'no-such-loan': 404,
  lent: 409,
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
