import type { Kernel, Request } from '../../../kernel/index.ts'

type IsOwn = (req: Request) => boolean

const own = new WeakMap<object, IsOwn>()
/** Whether a tool has announced itself; if none has, this is the only check for a request. */
let hasAny = false

/**
 * Announces which requests of a server are for a tool of the framework that observes the application: they count nowhere, and have neither
 * a span nor a log line. It is a test and not a mark, because a request is followed before its first middleware runs.
 */
export function announceOwn(server: Kernel, isOwn: IsOwn): void {
  hasAny = true
  own.set(server, isOwn)
}

export const isOwnRequest: IsOwn = (req) => hasAny && own.get(req.server)?.(req) === true
