// The names that `framework` has as well.
import type { PolicyDenials } from './denial.ts'
import type { CheckedPolicy, PolicyOption, ProofOfPolicy } from './options.ts'

export type { PolicyCheck, PolicyRecord, PolicyStatus } from './check.ts'
export { forResource, type ResourceMark } from './check.ts'
export type { PolicyDecorator } from './decorator.ts'
export type { PolicyErrorCallback, PolicyErrorHandler, PolicyErrorOptions } from './denial.ts'
export { PolicyManager, type PolicyManagerOptions } from './manager.ts'
export type { PolicyOption, PolicyRequirement } from './options.ts'
export { type ProvingCheck, proves } from './options.ts'

// In the files that declare the interfaces: merging into the entry point would hide them from applications that merge into theirs.
declare module '../../kernel/routing/options.ts' {
  interface RouteOptions {
    /** Checks that must all pass before the route's own middlewares run; the first one that fails responds. */
    policy?: PolicyOption
  }
  interface OptionChecks<Options> {
    /** Compares a route's policies with those of their managers; exists for the type checker only. */
    policy: Options extends { readonly policy: infer Given } ? CheckedPolicy<Given> : unknown
  }
}

declare module '../../kernel/routing/params.ts' {
  interface RequestExtensions<Options> {
    /** What the policies of a route prove about its request, such as `req.user`; exists for the type checker only. */
    policy: Options extends { readonly policy: infer Given } ? ProofOfPolicy<Given> : {}
  }
}

declare module '../../kernel/plugin/services.ts' {
  interface Services {
    /** Responds to requests that a policy has refused; `server.setPolicyErrorHandler` sets how. */
    policy: PolicyDenials
  }
}
