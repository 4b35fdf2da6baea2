import { checkOptions, described, OptionError, quoted, type Request } from '../../kernel/index.ts'
import type { Ask, PolicyRecord } from './manager.ts'

/** One check that a route asks for: of which manager, and its name there. */
export interface PolicyRequirement {
  readonly manager: { readonly '~policies': PolicyRecord; askOf(scope: string, handler: string): Ask }
  readonly scope: string
  readonly handler: string
}

/** What the route option `policy` takes. */
export type PolicyOption = PolicyRequirement | readonly PolicyRequirement[]

/**
 * The names of the checks that a route can ask, with `(user, req)`. One that asks about a resource would be given the request
 * in its place, and compare what neither has.
 */
export type RouteCheckName<Checks> = {
  [Name in keyof Checks]: Checks[Name] extends (user: never, req: Request) => unknown ? Name : never
}[keyof Checks]

/** What one requirement must be: names of its manager, and no member that has no meaning. */
type CheckedRequirement<Given> = Given extends {
  readonly manager: { readonly '~policies': infer Policies }
  readonly scope: infer Scope
}
  ? {
      readonly scope: keyof Policies
      readonly handler: Scope extends keyof Policies ? RouteCheckName<Policies[Scope]> : never
    } & { readonly [Name in Exclude<keyof Given, keyof PolicyRequirement>]: never }
  : unknown

type CheckedList<Given extends readonly unknown[]> = {
  readonly [Index in keyof Given]: CheckedRequirement<Given[Index]>
}

/** Checks the names in a `policy` option against its manager: an unknown one does not compile. */
export type CheckedPolicy<Given> = Given extends readonly unknown[]
  ? // Two list types that both hold are refused when a literal is checked against their intersection.
    Given extends CheckedList<Given>
    ? unknown
    : CheckedList<Given>
  : CheckedRequirement<Given>

const form = '{ manager, scope, handler } or a list of such objects'

/** The requirements of a route as a list, each of the right form. */
export function requirementsOf(option: unknown): readonly PolicyRequirement[] {
  const list: readonly unknown[] = Array.isArray(option) ? option : [option]
  // A list that came out empty would leave the route open without a word.
  if (list.length === 0)
    throw OptionError('policy', described('an empty list'), `${form}; leave it out for an open route`)
  for (const one of list) {
    if (typeof one !== 'object' || one === null) throw OptionError('policy', quoted(one), form)
    checkOptions('policy', one, ['manager', 'scope', 'handler'])
    const { manager, scope, handler } = one as Partial<PolicyRequirement>
    if (typeof manager?.askOf !== 'function') throw OptionError('policy.manager', manager, 'a PolicyManager')
    if (typeof scope !== 'string') throw OptionError('policy.scope', quoted(scope), 'the name of a scope')
    if (typeof handler !== 'string') throw OptionError('policy.handler', quoted(handler), 'the name of a check')
  }
  return list as readonly PolicyRequirement[]
}
