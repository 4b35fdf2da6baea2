import type { Request } from '../../../kernel/http/request/request.ts'

const watched = new WeakMap<Request, () => unknown>()

/**
 * Informs caches about data that a plugin keeps for one client: `state` returns `undefined` as long as nothing has
 * changed, and another value after each change. After a change, the response is for that client only, although its headers do not show
 * this yet: a session sets its cookie when the response is sent.
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
 * The current value of the `state` given to {@link watchPersonal}; `undefined` where that was not called.
 *
 * @example
 * ctx.onSend((req, res) => {
 *   if (personalState(req) !== undefined) res.header('cache-control', 'private')
 * })
 */
export const personalState = (req: Request): unknown => watched.get(req)?.()

const credentials = new WeakMap<Request, string>()

/** Notes the header that has shown who the caller is: the response is for this caller only. */
export const noteCredential = (req: Request, header: string): void => void credentials.set(req, header)

/** The header given to {@link noteCredential}; `undefined` for an anonymous request. */
export const credentialOf = (req: Request): string | undefined => credentials.get(req)
