export type { Connection, Reply, Rewrite, Rewriter, TakeOver } from './http/raw.ts'
export type { HostServer } from './http/request/request.ts'
export * from './http/response/error-body.ts'
export { type HeaderPreset, presetHeaders } from './http/response/headers.ts'
export { refuseEmptied, toJson } from './http/response/json.ts'
export type { Statuses, StatusName } from './http/response/statuses.ts'
export type { ListedPlugin, ListedRoute, Listing } from './inspection.ts'
export { type Inject, Kernel } from './kernel.ts'
export { atEachBoot, type BootCheck, expectServer, serverExpected } from './life/life-cycle.ts'
export type { ResolvedKernelOptions } from './options.ts'
export { reportFailure } from './pipeline/respond.ts'
export type { AbsentPlugin } from './pipeline/route-options.ts'
export type { ErrorTrace, RequestTrace, StepTrace } from './pipeline/traces.ts'
export {
  announcePluginData,
  isPluginFactory,
  isRegistration,
  type PluginData,
  type SetupContext,
} from './plugin/define.ts'
export type { OptionReader, OptionRoute, OptionsReader, RouteOptionReader } from './plugin/options.ts'
export type { PluginTimes, PluginTrace, Registrable } from './plugin/scope.ts'
export * from './public.ts'
export type { RouteRecord } from './routing/collection.ts'
export type { BodilessOptions } from './routing/options.ts'
export type { OptionsExtension } from './routing/params.ts'
export { fixedPath } from './routing/pattern.ts'
export { type CheckedOptions, isUpgradeAlone, type Verb } from './routing/verbs.ts'
export type { Upgrade } from './runtime/adapter.ts'
export type { FetchClient } from './runtime/web/fetch-context.ts'
export { CallSite, frameIn, placeIn } from './support/call-site.ts'
export * from './support/clock.ts'
export {
  ArgumentsError,
  BadRequestError,
  defineError,
  defineErrors,
  type ErrorFactory,
  FileNotFoundError,
  isFailureStatus,
  isFrameworkError,
  messagePrefix,
  PayloadTooLargeError,
  RequestTimeoutError,
  ServerClosingError,
  UnsupportedMediaTypeError,
  UpgradeRequiredError,
} from './support/errors.ts'
export type { LogMethod } from './support/logger.ts'
export { didYouMean, nearest } from './support/nearest.ts'
export {
  checkOptions,
  described,
  hidden,
  isOptions,
  OptionError,
  OptionPlace,
  optionNames,
  quoted,
} from './support/options.ts'
export { type DeclarationTrace, declarationPoint, Trace, type TraceOutcome, TracePoint } from './support/trace.ts'
export { isInTime, isPromise, within } from './support/within.ts'
export type { WorkerPlace } from './support/worker.ts'
