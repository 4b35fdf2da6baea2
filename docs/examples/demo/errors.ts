import type { ErrorHandler } from 'framework'
import { Refusal } from './library/refusal.ts'

/** Answers what handlers throw: the library's refusals with their reason, everything else without one. */
export const answerError: ErrorHandler = (req, res, _next, error) => {
  if (error instanceof Refusal) {
    return res.status(error.status).json({ code: error.code, message: error.message })
  }
  req.log.error({ err: error }, `${req.method} ${req.path} failed`)
  return res.internalServerError({ code: 'internal', message: 'that should not have happened', request: req.id })
}
