import { defineError, type Request, type Response, sendFailure } from '../../../kernel/index.ts'

const PreconditionFailedError = defineError(
  'PreconditionFailedError',
  412,
  () => 'the file does not match the conditions of the request',
)
const RangeNotSatisfiableError = defineError('RangeNotSatisfiableError', 416, () => 'the file has no such range')

/** Answers that the file does not match the condition; in the default format, without a body. */
export const answerUnmet = (req: Request, res: Response): Response =>
  sendFailure(req, res, PreconditionFailedError(), { body: undefined })

/** Answers that the file does not have the requested range; in the default format, without a body. */
export const answerNoRange = (req: Request, res: Response): Response =>
  sendFailure(req, res, RangeNotSatisfiableError(), { body: undefined })
