import { type ErrorHandler, HttpError } from 'framework'
import { Refusal } from './box-office.ts'

const statuses = { ShowNotFoundError: 404, SoldOutError: 409 } as const

/** The only place that knows which status a rule has. */
export const answerFailure: ErrorHandler = (_req, _res, next, error) => {
  if (!(error instanceof Refusal)) return next()
  const { reason, message, details } = error
  return next(
    new HttpError(statuses[reason], {
      code: reason,
      message,
      details,
      type: `https://tickets.example.com/problems/${reason}`,
    }),
  )
}
