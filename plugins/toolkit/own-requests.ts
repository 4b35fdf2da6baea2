import type { Request } from '../../kernel/index.ts'

const own = new WeakSet<object>()
/** Without such a tool this is the only check of a request. */
let hasAny = false

/** Marks a request to a tool of the framework that shows the application: it is not counted, and no log has a line about it. */
export function markOwn(req: Request): void {
  hasAny = true
  own.add(req)
}

export const isOwnRequest = (req: Request): boolean => hasAny && own.has(req)
