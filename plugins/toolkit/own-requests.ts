import type { Request } from '../../kernel/index.ts'

const own = new WeakSet<object>()
/** Without such a tool no request is asked for more than this. */
let hasAny = false

/** Marks a request to a tool of the framework that looks at the application: it counts nowhere, and no log has a line of it. */
export function markOwn(req: Request): void {
  hasAny = true
  own.add(req)
}

export const isOwnRequest = (req: Request): boolean => hasAny && own.has(req)
