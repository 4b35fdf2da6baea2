import type { KernelRequest, Request } from '../http/request/request.ts'
import { sendFailure } from '../http/response/error-body.ts'
import type { Response } from '../http/response/response.ts'
import type { KernelResponse } from '../http/response/response-buffer.ts'
import type { Scope } from '../plugin/scope.ts'
import { MethodNotAllowedError, RouteNotFoundError } from '../support/errors.ts'
import { isPromise } from '../support/within.ts'
import type { Terminal } from './chain.ts'

/** Answers 404 and 405; the error says which of them, and the status is preset. */
export type NotFoundHandler = (req: Request, res: Response, error: Error & { code: string; status: number }) => unknown

/** Answers requests at a path and below it that no route answers; if it does not answer, the request goes to the next fallback. */
export type FallbackHandler = (req: Request, res: Response) => void | Promise<void>

/** A fallback: where it applies, and the scope whose middlewares run before it. */
export interface Fallback {
  readonly scope: Scope
  readonly plugin: string
  /** The path at which it applies; `''` for everything. */
  readonly path: string
  readonly run: FallbackHandler
}

/** Answers requests that match no route: the fallbacks of their path in turn, then 404 or 405. */
export class NotFound {
  handler: NotFoundHandler | undefined

  /** The end of the chain of such a request. */
  readonly answer: Terminal = (req, res) => this.#fallBack(0, req, res)

  #fallBack(from: number, req: KernelRequest, res: KernelResponse): unknown {
    const fallbacks = req.miss?.fallbacks ?? []
    for (let i = from; i < fallbacks.length; i++) {
      const result: unknown = fallbacks[i]!.run(req, res)
      if (isPromise(result)) return result.then(() => (res.answered ? res : this.#fallBack(i + 1, req, res)))
      if (res.answered) return res
    }
    return this.#answerMiss(req, res)
  }

  #answerMiss(req: KernelRequest, res: KernelResponse): unknown {
    const { method, path } = req
    const allowed = req.miss?.allowed ?? []
    const error = allowed.length === 0 ? RouteNotFoundError(method, path) : MethodNotAllowedError(method, path)
    res.code = error.status
    if (this.handler !== undefined) return this.handler(req, res, error)
    if (allowed.length > 0) res.setHeader('allow', allowed.join(', '))
    return sendFailure(req, res, error)
  }
}
