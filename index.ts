export type {
  Address,
  ApiDoc,
  ClassMark,
  Command,
  CommandArgument,
  CommandFlag,
  Context,
  ErrorHandler,
  Explanation,
  ExposeErrorDetails,
  ExtensionOf,
  FailureBody,
  FileOptions,
  Handler,
  HeaderValue,
  HookName,
  HookTypes,
  InjectRequest,
  InjectResponse,
  KernelOptions,
  Limits,
  Logger,
  Method,
  MethodMark,
  Middleware,
  Next,
  NotFoundHandler,
  OpenApiFragment,
  OptionChecks,
  OptionsOf,
  PathParams,
  PluginDefinition,
  PluginFactory,
  PluginNode,
  Query,
  RawRequest,
  RegisterOptions,
  Registration,
  Request,
  RequestTypes,
  Response,
  ResponseTypes,
  Route,
  RouteOptions,
  RouteRequest,
  RouteResponse,
  Routes,
  ServiceStore,
  Services,
  Slot,
  SseMessage,
  Step,
  StreamBody,
  TlsOptions,
  TypedMiddleware,
} from './kernel/index.ts'
export { defineMiddleware, definePlugin, RouteCollection, router } from './kernel/index.ts'
export {
  type CacheInclude,
  type CacheOptions,
  type CacheRouteOptions,
  CacheService,
  cacheDecorator as cache,
  getCacheService,
  type LockBehavior,
} from './plugins/cache/index.ts'
export type { CompressionOptions, Encoding } from './plugins/compression/index.ts'
export {
  type ControllerClass,
  type ControllerMethod,
  type ControllersOptions,
  type CustomError,
  controller,
  del,
  get,
  middleware,
  patch,
  post,
  put,
  type SerializeOptions,
  serialize,
  type Validate,
  type ValidateOptions,
  type ValidateSchemas,
  type VerbDecorator,
  validate,
} from './plugins/controllers/index.ts'
export type { SetCookieOptions } from './plugins/cookie/index.ts'
export type { CorsOptions } from './plugins/cors/index.ts'
export type { HealthOptions } from './plugins/health/index.ts'
export type { HelmetOptions } from './plugins/helmet/index.ts'
export type { JsonOptions } from './plugins/json/index.ts'
export { logger } from './plugins/log/index.ts'
export type { MethodOverrideOptions } from './plugins/methodOverride/index.ts'
export {
  type PolicyCheck,
  type PolicyDecorator,
  type PolicyErrorCallback,
  type PolicyErrorHandler,
  type PolicyErrorOptions,
  PolicyManager,
  type PolicyManagerOptions,
  type PolicyOption,
  type PolicyRecord,
  type PolicyRequirement,
} from './plugins/policy/index.ts'
export type { RateLimitOptions, RateLimitRule, RateLimitStore } from './plugins/rateLimit/index.ts'
export { currentContext, type RequestContext } from './plugins/requestContext/index.ts'
export type { ResponsesOptions } from './plugins/responses/index.ts'
export {
  type Serializer,
  serializer,
  type UseVariantOptions,
  type VariantSchema,
} from './plugins/serializer/index.ts'
export type {
  Session,
  SessionControls,
  SessionData,
  SessionStore,
} from './plugins/session/index.ts'
export type { StaticOptions } from './plugins/static/index.ts'
export type { TimeoutOptions } from './plugins/timeout/index.ts'
export type { TrustProxyOptions } from './plugins/trustProxy/index.ts'
export type {
  RouteUploadOptions,
  UploadedFile,
  UploadOptions,
  UploadSink,
  UploadSource,
} from './plugins/upload/index.ts'
export type { UrlencodedOptions } from './plugins/urlencoded/index.ts'
export type {
  InputOf,
  OutputOf,
  ValidationError,
  ValidationErrorCallback,
  ValidationErrorHandler,
  ValidationErrorOptions,
  ValidationIssue,
} from './plugins/validation/index.ts'
export { type MockServerOptions, Server, type ServerOptions } from './server.ts'
