import type { KernelResponse } from './response-buffer.ts'

/** Tells of an answer that comes when there is one already, and of what to do about it. */
export function warnOfSecondAnswer(res: KernelResponse): void {
  const { request, statusCode, isDefault, sent } = res
  const route = `${request.method} ${request.route ?? request.path}`
  const why =
    isDefault && sent
      ? `answered too late: ${route} had returned without a value, and was answered with nothing. Return a promise that settles when the answer is there`
      : `answered twice: ${route} keeps its first answer (${statusCode}); return after answering`
  request.log.warn({ route }, why)
}
