// What `framework` itself has of the kernel; `framework/kernel` has the rest as well.
export type { RawRequest, StreamBody } from './http/raw.ts'
export type { Query, Request } from './http/request/request.ts'
export type { Failure } from './http/response/error-body.ts'
export type { HeaderValue } from './http/response/headers.ts'
export type { FileOptions, Response, SseMessage } from './http/response/response.ts'
export type { Explanation, PluginNode } from './inspection.ts'
export type { KernelOptions } from './options.ts'
export type { NotFoundHandler } from './pipeline/find-route.ts'
export type { Context } from './plugin/context.ts'
export {
  definePlugin,
  type OptionsOf,
  type PluginDefinition,
  type PluginFactory,
  type RegisterOptions,
  type Registration,
} from './plugin/define.ts'
export type { ErrorHandler, HookName, HookTypes, Thrown } from './plugin/hooks.ts'
export type { ServiceStore, Services } from './plugin/services.ts'
export { RouteCollection, router } from './routing/collection.ts'
export { defineMiddleware, type Middleware, type Next, type TypedMiddleware } from './routing/middleware.ts'
export type { OptionChecks, RouteOptions } from './routing/options.ts'
export type {
  ExtensionOf,
  HandlerTypes,
  RequestExtensions,
  RequestTypes,
  ResponseTypes,
  RouteRequest,
  RouteResponse,
  TypedRequest,
} from './routing/params.ts'
export type { Method, PathParams } from './routing/pattern.ts'
export type { Route, Slot, Step } from './routing/route.ts'
export type { Handler, Routes } from './routing/verbs.ts'
export type { Address, Limits, TlsOptions } from './runtime/adapter.ts'
export type { InjectRequest, InjectResponse } from './runtime/inject.ts'
export type { Logger } from './support/logger.ts'
