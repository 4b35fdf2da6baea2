import { asFailureBody, checkOptions, OptionError, quoted, type Request, type Response } from '../../kernel/index.ts'
import { isThenable } from './verdict.ts'

/** Answers a request that a policy has refused; the status is preset to 401, a returned value becomes the body. */
export type PolicyErrorCallback = (req: Request, res: Response) => unknown

/** What a refused request is answered with. */
export interface PolicyErrorOptions {
  /** Default 401. */
  status?: number
  /** The body. Default `{ error: 'Unauthorized' }`. */
  map?(req: Request): unknown
}

export type PolicyErrorHandler = PolicyErrorCallback | PolicyErrorOptions

// Marked, so that a schema that a route has for its own 401 does not turn the answer into a 500.
const defaultBody = () => asFailureBody({ error: 'Unauthorized' })

function fromOptions(options: PolicyErrorOptions): PolicyErrorCallback {
  checkOptions('setPolicyErrorHandler', options, ['status', 'map'])
  const { status = 401, map = defaultBody } = options
  if (!Number.isInteger(status) || status < 400 || status > 599) {
    throw OptionError('setPolicyErrorHandler.status', quoted(status), 'a status from 400 to 599')
  }
  if (typeof map !== 'function') throw OptionError('setPolicyErrorHandler.map', map, 'a function (req) => body')
  return (req, res) => {
    const body = map(req)
    res.status(status)
    return isThenable(body) ? Promise.resolve(body).then((one) => res.send(one)) : res.send(body)
  }
}

/** How one server answers requests that its policies refuse. */
export class PolicyDenials {
  #answer: PolicyErrorCallback = defaultBody

  setHandler(handler: PolicyErrorHandler): void {
    this.#answer = typeof handler === 'function' ? handler : fromOptions(handler)
  }

  /** Answers; a promise only when the handler gives one. */
  deny(req: Request, res: Response): void | Promise<void> {
    res.status(401)
    const value = this.#answer(req, res)
    if (isThenable(value)) return Promise.resolve(value).then((one) => finish(one, res))
    finish(value, res)
  }
}

/** A returned value is the body, like that of a route's handler; a handler that leaves it open still refuses. */
function finish(value: unknown, res: Response): void {
  if (res.answered) return
  res.send(value === undefined || value === res ? defaultBody() : value)
}
