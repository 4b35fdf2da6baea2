import {
  type AnyClass,
  type AnyMethod,
  type ClassMark,
  DecoratorError,
  type MethodMark,
} from '../shared/decorators/decorator.ts'
import { routeDecorator } from '../shared/decorators/route-decorator.ts'
import type { PolicyNames } from './check.ts'
import type { PolicyRequirement, RouteCheckName } from './options.ts'

/** Adds a check of one manager to a method, or to every method of a class. */
export type PolicyDecorator<Policies extends PolicyNames> = <
  Scope extends keyof Policies & string,
  Name extends RouteCheckName<Policies[Scope]> & string,
>(
  scope: Scope,
  handler: Name,
  ...more: never[]
) => ClassMark & MethodMark

/** The decorator of a manager; it throws for an unknown name where that is written. */
export function policyDecorator<Policies extends PolicyNames>(
  manager: PolicyRequirement['manager'],
): PolicyDecorator<Policies> {
  return function policy(scope, handler, ...more) {
    // If a second check were dropped, clients that it refuses would be let in.
    if (more.length > 0)
      throw DecoratorError('policy', 'a class or a method', 'it takes one check; write a decorator for each')
    manager.askOf(scope, handler)
    return routeDecorator<AnyClass, AnyMethod>('policy', { policy: { manager, scope, handler } }, { adds: true })
  }
}
