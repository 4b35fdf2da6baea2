import { OptionError } from '../../kernel/index.ts'

/** Marks the check; `Symbol.for`, so that a check from another copy of the package is recognised. */
const brand = Symbol.for('framework.policy.resource')

/** A check that is marked as one about a resource. */
export interface ResourceMark {
  /** Exists for the type checker only. */
  readonly '~resource': true
}

/**
 * Marks a check about a resource: `canAccess` passes it a resource; a route has none, and refuses the check at boot.
 *
 * @example
 * interface User { id: string }
 * interface Post { author: string }
 *
 * const policies = new PolicyManager({
 *   posts: { edit: forResource((user: User | undefined, post: Post) => user?.id === post.author) },
 * })
 * await policies.canAccess('posts', 'edit', { id: 'ann' }, { author: 'ann' })
 */
export function forResource<This, Args extends unknown[], Result extends boolean | Promise<boolean>>(
  check: (this: This, ...args: Args) => Result,
): ((this: This, ...args: Args) => Result) & ResourceMark {
  if (typeof check !== 'function') throw OptionError('forResource', check, 'a function (user, resource) => boolean')
  // A new function, because the given one may be a check of a route elsewhere.
  const marked = function (this: This, ...args: Args): Result {
    return check.apply(this, args)
  }
  return Object.defineProperty(marked, brand, { value: true }) as typeof marked & ResourceMark
}

export function isForResource(check: Function): boolean {
  return (check as unknown as Record<symbol, unknown>)[brand] === true
}
