import { isValidHost } from '../http/request/host.ts'
import { absoluteForm } from '../http/request/target.ts'
import { BadRequestError, defineErrors, FrameworkError, RequestTimeoutError } from '../support/errors.ts'

/**
 * The host that a request is for: that of an absolute target, otherwise the Host header (RFC 9112 section 3.2.2). A Host that is
 * missing or malformed is kept, so that the request is refused for it: the target cannot hide it.
 */
export function hostFor(target: string, header: string | undefined, isOptional: boolean): string | undefined {
  if (target.charCodeAt(0) === 47 /* / */) return header
  if (header === undefined ? !isOptional : !isValidHost(header)) return header
  return absoluteForm.exec(target)?.[1] ?? header
}

/**
 * The separator between the values of a repeated header. All values are joined, even where `node:http` would keep only the first: Bun and
 * Deno join them, and the grammar of such a header refuses a joined value.
 */
export function separator(name: string): string {
  return name === 'cookie' ? '; ' : ', '
}

export const { BodyReadError, ExpectationFailedError, HeaderTooLargeError } = defineErrors({
  BodyReadError: () =>
    'the body was already read, and it can be read only once. Keep what you have read, or turn the parser off for the route, for example with json: false',
  ExpectationFailedError: [417, () => 'the header Expect supports 100-continue only'],
  HeaderTooLargeError: [431, (what: string) => what],
})
/** The error for a request that did not arrive in time: the same code, with the status that HTTP defines for it. */
export function lateRequest(): FrameworkError {
  const { code, message } = RequestTimeoutError('the request did not arrive in time')
  return new FrameworkError(code, 408, message)
}

export const EndedEarlyError = () => BadRequestError('the connection ended before the body was complete')
