// The names that `framework` has as well.
import type { WebhookOptions } from './options.ts'
import type { VerifiedWebhook } from './schemes.ts'
import type { WebhookSender } from './sender.ts'

export type {
  OutgoingWebhooksOptions,
  WebhookDelivery,
  WebhookEndpoint,
  WebhookEndpointState,
  WebhookOptions,
  WebhookRequest,
  WebhookResponse,
  WebhooksOptions,
} from './options.ts'
export type { VerifiedWebhook, WebhookScheme } from './schemes.ts'
export type { WebhookEvent, WebhookSender } from './sender.ts'

// In the files that declare the interfaces: merging into the entry point would hide them from applications that merge into theirs.
declare module '../../kernel/routing/options.ts' {
  interface RouteOptions {
    /** Accepts only webhooks whose signature is verified; needs the plugin `webhooks`. */
    webhook?: WebhookOptions
  }
}

declare module '../../kernel/routing/params.ts' {
  interface RequestExtensions<Options> {
    /** The verified webhook; exists for the type checker only. */
    webhook: Options extends { readonly webhook: WebhookOptions } ? { readonly webhook: VerifiedWebhook } : {}
  }
}

declare module '../../kernel/plugin/services.ts' {
  interface Services {
    /** Sends webhooks, with the plugin `webhooks`. */
    webhooks: WebhookSender
  }
}
