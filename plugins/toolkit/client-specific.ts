import type { Request } from '../../kernel/http/request/request.ts'

const watched = new WeakMap<Request, () => unknown>()

/**
 * Informs caches about a plugin's data of one client: `state` returns `undefined` while nothing was
 * changed, and another value after each change. Such an answer is for that client only, although its headers do not show
 * it yet: a session sets its cookie when the answer is sent.
 */
export function watchPersonal(req: Request, state: () => unknown): void {
  watched.set(req, state)
}

/** The present value of {@link watchPersonal}; `undefined` where no plugin watches. */
export function personalState(req: Request): unknown {
  return watched.get(req)?.()
}
