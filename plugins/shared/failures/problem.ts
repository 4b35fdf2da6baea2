import { messagePrefix } from '../../../kernel/index.ts'
import { defined } from '../values/json.ts'
import { phraseOf } from './described-error.ts'
import type { FailureBody, FailureFormat } from './formatted-failures.ts'

export const problemType = 'application/problem+json'

/** Problem Details (RFC 9457), with the code and the error's details as extension members. */
export const problem: FailureFormat = (failure, req) => {
  const { status, code, message, type = 'about:blank', errors, details, body } = failure
  const title = phraseOf(status)
  const detail = withoutPrefix(code, message)
  const { stack, cause } = (body ?? {}) as Partial<FailureBody>
  const members = defined({
    type,
    title,
    status,
    detail: detail === title ? undefined : detail,
    // An occurrence has the id of its request, which is also in the log and in `x-request-id`. A path would repeat the client's input.
    instance: req && `urn:request:${req.id}`,
    code,
    errors,
    stack,
    cause,
  })
  // First for the order, and again last because nothing may replace the standard members.
  return { headers: { 'content-type': problemType }, body: { ...members, ...details, ...members } }
}

/** A message without its code: the framework's messages begin with it, and here it is a separate member. */
function withoutPrefix(code: string, message: string): string {
  const prefix = `${messagePrefix(code)}: `
  return message.startsWith(prefix) ? message.slice(prefix.length) : message
}
