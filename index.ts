export * from './kernel/public.ts'
export * from './plugins/asyncapi/public.ts'
export * from './plugins/auth/public.ts'
export { cacheDecorator as cache } from './plugins/cache/index.ts'
export * from './plugins/cache/public.ts'
export * from './plugins/channels/public.ts'
export { Command } from './plugins/command.ts'
export type { CompressionOptions, Encoding } from './plugins/compression/index.ts'
export { implement } from './plugins/contract/implement.ts'
export * from './plugins/controllers/public.ts'
export type { SetCookieOptions } from './plugins/cookie/index.ts'
export type { CorsOptions } from './plugins/cors/index.ts'
export { cronJob as cron } from './plugins/cron/index.ts'
export * from './plugins/cron/public.ts'
export type { CsrfOptions } from './plugins/csrf/index.ts'
export * from './plugins/database/public.ts'
export * from './plugins/env/public.ts'
export type { GraphqlOptions, GraphqlResolver, GraphqlResolvers, GraphqlService } from './plugins/graphql/index.ts'
export type { HealthOptions } from './plugins/health/index.ts'
export type { HelmetOptions } from './plugins/helmet/index.ts'
export type { IdempotencyOptions, IdempotencyRouteOptions, IdempotencyStore } from './plugins/idempotency/index.ts'
export type { InspectorOptions } from './plugins/inspector/index.ts'
export type { JsonOptions } from './plugins/json/index.ts'
export type { HeldLock, LockOptions, LockService, LocksOptions } from './plugins/locks/index.ts'
export { logger } from './plugins/log/index.ts'
export * from './plugins/mailer/public.ts'
export type { MethodOverrideOptions } from './plugins/methodOverride/index.ts'
export * from './plugins/metrics/public.ts'
export { mqttMessages as mqtt } from './plugins/mqtt/index.ts'
export * from './plugins/mqtt/public.ts'
export * from './plugins/openapi/public.ts'
export type { OverloadOptions, OverloadState } from './plugins/overload/index.ts'
export * from './plugins/policy/public.ts'
export * from './plugins/queues/public.ts'
export type { RateLimitOptions, RateLimitRule, RateLimitStore } from './plugins/rateLimit/index.ts'
export { currentContext, type RequestContext } from './plugins/requestContext/index.ts'
export type { ResponseSchemas } from './plugins/responses/index.ts'
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
export type { ClassMark, MethodMark } from './plugins/shared/decorators/decorator.ts'
export * from './plugins/shared/development/command-definition.ts'
export type { CustomErrorFormat, ErrorFormat, ErrorFormatter } from './plugins/shared/failures/format.ts'
export type { ExposeErrorDetails, FailureBody } from './plugins/shared/failures/formatted-failures.ts'
export { HttpError, type HttpErrorDetails, type HttpErrorOptions } from './plugins/shared/failures/http-error.ts'
export { option } from './plugins/shared/options/index.ts'
export type { StaticOptions } from './plugins/static/index.ts'
export * from './plugins/storage/public.ts'
export type { Telemetry, TelemetryOptions } from './plugins/telemetry/index.ts'
export * from './plugins/tenant/public.ts'
export type { TimeoutOptions } from './plugins/timeout/index.ts'
export type { TrustProxyOptions } from './plugins/trustProxy/index.ts'
export * from './plugins/upload/public.ts'
export type { UrlencodedOptions } from './plugins/urlencoded/index.ts'
export * from './plugins/validation/public.ts'
export { webRequest } from './plugins/web-request.ts'
export type {
  OutgoingWebhooksOptions,
  VerifiedWebhook,
  WebhookDelivery,
  WebhookEndpoint,
  WebhookEndpointState,
  WebhookEvent,
  WebhookOptions,
  WebhookRequest,
  WebhookResponse,
  WebhookScheme,
  WebhookSender,
  WebhooksOptions,
} from './plugins/webhooks/index.ts'
export * from './plugins/websocket/public.ts'
export { type BackgroundOptions, type MockServerOptions, Server, type ServerOptions } from './server.ts'
