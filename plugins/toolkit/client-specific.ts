import type { Request } from '../../kernel/http/request/request.ts'

const watched = new WeakMap<Request, () => unknown>()

/**
 * Lets those that keep answers know what a plugin remembers of one client: `state` gives `undefined` while nothing was
 * changed, and another value after each change. Such an answer is that client's alone, although its headers do not show
 * it yet: a session sets its cookie when the answer leaves.
 */
export function watchPersonal(req: Request, state: () => unknown): void {
  watched.set(req, state)
}

/** What {@link watchPersonal} tells at this moment; `undefined` where no one watches. */
export function personalState(req: Request): unknown {
  return watched.get(req)?.()
}
