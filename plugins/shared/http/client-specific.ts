import type { Request } from '../../../kernel/http/request/request.ts'

/** On the request: a `WeakMap` takes fifteen times as long, and the collector looks through it. */
const watched = Symbol('personal')
const varying = Symbol('varying')
const credential = Symbol('credential')
type Noted = Request & { [watched]?: () => unknown; [varying]?: string | undefined; [credential]?: string }

/**
 * Informs caches about data that a plugin keeps for one client: `state` returns `undefined` as long as nothing has
 * changed, and another value after each change. After a change, the response is for that client only, although its headers do not show
 * this yet: a session sets its cookie when the response is sent. `header` is the request header that
 * leads to the data: a response that is shared because nothing has changed has it in `vary`, since a client with data may get another one.
 *
 * @example
 * ctx.use((req, _res, next) => {
 *   let basket: unknown
 *   watchPersonal(req, () => basket)
 *   return next()
 * })
 */
export function watchPersonal(req: Request, state: () => unknown, header?: string): void {
  ;(req as Noted)[watched] = state
  ;(req as Noted)[varying] = header
}

/**
 * The current value of the `state` given to {@link watchPersonal}; `undefined` where that was not called.
 *
 * @example
 * ctx.onSend((req, res) => {
 *   if (personalState(req) !== undefined) res.header('cache-control', 'private')
 * })
 */
export const personalState = (req: Request): unknown => (req as Noted)[watched]?.()

/** The `header` given to {@link watchPersonal}. */
export const varyingBy = (req: Request): string | undefined => (req as Noted)[varying]

/** Notes the header that has shown who the caller is: the response is for this caller only. */
export const noteCredential = (req: Request, header: string): void => {
  ;(req as Noted)[credential] = header
}

/** The header given to {@link noteCredential}; `undefined` for an anonymous request. */
export const credentialOf = (req: Request): string | undefined => (req as Noted)[credential]
