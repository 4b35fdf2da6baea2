export type { Connection, RawRequest, Reply, Rewrite, Rewriter, StreamBody, TakeOver } from './http/raw.ts'
export type { HostServer, Query, Request } from './http/request/request.ts'
export {
  type Failure,
  type FailureAnswer,
  type Failures,
  isFailureBody,
  type OnFormatFailure,
  sendFailure,
} from './http/response/error-body.ts'
export { type HeaderPreset, type HeaderValue, presetHeaders } from './http/response/headers.ts'
export { refuseEmptied, toJson } from './http/response/json.ts'
export type { FileOptions, Response, SseMessage } from './http/response/response.ts'
export type { Statuses, StatusName } from './http/response/statuses.ts'
export type { Explanation, ListedPlugin, ListedRoute, Listing, PluginNode } from './inspection.ts'
export { type Inject, Kernel } from './kernel.ts'
export { atEachBoot, type BootCheck, expectServer, serverExpected } from './life/life-cycle.ts'
export type { PluginTrace } from './life/plugin-trace.ts'
export type { KernelOptions, ResolvedKernelOptions } from './options.ts'
export type { NotFoundHandler } from './pipeline/find-route.ts'
export { reportFailure } from './pipeline/respond.ts'
export type { AbsentPlugin } from './pipeline/route-options.ts'
export type { ErrorTrace, RequestTrace, StepTrace } from './pipeline/traces.ts'
export type { Context } from './plugin/context.ts'
export {
  announcePluginData,
  definePlugin,
  isPluginFactory,
  isRegistration,
  type OptionsOf,
  type PluginData,
  type PluginDefinition,
  type PluginFactory,
  type RegisterOptions,
  type Registration,
  type SetupContext,
} from './plugin/define.ts'
export type { ErrorHandler, HookName, HookTypes, Thrown } from './plugin/hooks.ts'
export type { OptionReader, OptionRoute, OptionsReader, RouteOptionReader } from './plugin/options.ts'
export type { PluginTimes, Registrable } from './plugin/scope.ts'
export type { ServiceStore, Services } from './plugin/services.ts'
export { RouteCollection, type RouteRecord, router } from './routing/collection.ts'
export { defineMiddleware, type Middleware, type Next, type TypedMiddleware } from './routing/middleware.ts'
export type { BodilessOptions, OptionChecks, RouteOptions } from './routing/options.ts'
export type {
  ExtensionOf,
  HandlerTypes,
  OptionsExtension,
  RequestExtensions,
  RequestTypes,
  ResponseTypes,
  RouteRequest,
  RouteResponse,
  TypedRequest,
} from './routing/params.ts'
export { fixedPath, type Method, type PathParams } from './routing/pattern.ts'
export type { Route, Slot, Step } from './routing/route.ts'
export { type CheckedOptions, type Handler, isUpgradeAlone, type Routes, type Verb } from './routing/verbs.ts'
export type { Address, Limits, TlsOptions, Upgrade } from './runtime/adapter.ts'
export type { InjectRequest, InjectResponse } from './runtime/inject.ts'
export type { FetchClient } from './runtime/web/fetch-context.ts'
export { CallSite, placeIn } from './support/call-site.ts'
export {
  type Clock,
  clock,
  sleepBy,
  systemClock,
  type Timer,
  useClock,
  type VirtualClock,
  virtualClock,
} from './support/clock.ts'
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
export type { Logger, LogMethod } from './support/logger.ts'
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
export { Trace, type TraceOutcome, TracePoint } from './support/trace.ts'
export { isInTime, isPromise, within } from './support/within.ts'
export type { WorkerPlace } from './support/worker.ts'
