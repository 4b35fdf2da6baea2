import type { ErrorHandler, ValidationErrorHandler } from 'framework'
import { Refusal } from './library/refusal.ts'

/** Answers the errors that handlers throw: the library's refusals with their reason, everything else without one. */
export const answerError: ErrorHandler = (req, res, _next, error) => {
  if (error instanceof Refusal) {
    return res.status(error.status).json({ code: error.code, message: error.message })
  }
  req.log.error({ err: error }, `${req.method} ${req.path} failed`)
  return res.internalServerError({ code: 'INTERNAL_ERROR', message: 'that should not have happened', request: req.id })
}

/** Answers input that the schemas refuse, in the same form. */
export const answerInvalid: ValidationErrorHandler = {
  status: 422,
  map: ({ errors }) => ({
    code: 'ValidationError',
    message: errors.map(({ part, path, message }) => `${part}${path} ${message}`).join('; '),
  }),
}
