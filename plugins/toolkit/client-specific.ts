import type { Request } from '../../kernel/http/request/request.ts'

const watched = new WeakMap<Request, () => unknown>()

/**
 * Informs caches about a plugin's data of one client: `state` returns `undefined` while nothing was
 * changed, and another value after each change. Such an answer is for that client only, although its headers do not show
 * it yet: a session sets its cookie when the answer is sent.
 *
 * @example
 * ctx.use((req, _res, next) => {
 *   let basket: unknown
 *   watchPersonal(req, () => basket)
 *   return next()
 * })
 */
export function watchPersonal(req: Request, state: () => unknown): void {
  watched.set(req, state)
}

/**
 * What {@link watchPersonal} gives at this moment; `undefined` where no one watches.
 *
 * @example
 * ctx.onSend((req, res) => {
 *   if (personalState(req) !== undefined) res.header('cache-control', 'private')
 * })
 */
export function personalState(req: Request): unknown {
  return watched.get(req)?.()
}
