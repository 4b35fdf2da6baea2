import type { Kernel, Request } from '../../kernel/index.ts'

type IsOwn = (req: Request) => boolean

const own = new WeakMap<object, IsOwn>()
/** Without such a tool this is the only check of a request. */
let hasAny = false

/**
 * Says which requests of a server are to a tool of the framework that looks at the application: they count nowhere, have no span, and no log has a
 * line of them. By a test and not a mark, for a request is followed before its first middleware runs.
 */
export function announceOwn(server: Kernel, isOwn: IsOwn): void {
  hasAny = true
  own.set(server, isOwn)
}

export const isOwnRequest: IsOwn = (req) => hasAny && own.get(req.server)?.(req) === true
