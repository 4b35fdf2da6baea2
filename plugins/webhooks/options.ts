import { quoted } from '../../kernel/index.ts'
import type { PublishOptions, Queue } from '../queues/index.ts'
import { backoffOption } from '../shared/engines/publish-options.ts'
import { secrets } from '../shared/environment/secrets.ts'
import { networkOption } from '../shared/http/network.ts'
import { option } from '../shared/options/index.ts'
import { schemes, standardSecret, type WebhookScheme } from './schemes.ts'

/** The option `webhook` of a route. */
export interface WebhookOptions {
  /** How the sender signs: `'standard'` (Standard Webhooks), `'github'` (`X-Hub-Signature-256`) or `'stripe'` (`Stripe-Signature`). */
  scheme: WebhookScheme
  /** The secret that the sender shares, or several while it is replaced: each is accepted. Of Standard Webhooks, in base64, also with `whsec_`. */
  secret: string | readonly string[]
  /** Milliseconds by which the time of the signature may differ, against replays. Default 300000. GitHub does not sign a time. */
  tolerance?: number
}

/** @internal */
export const webhookOfRoute = option
  .shape({
    scheme: option.oneOf('standard', 'github', 'stripe').required(),
    secret: secrets.required(),
    tolerance: option.ms({ min: 1_000 }).default(300_000),
  })
  .into(({ scheme: name, secret, tolerance }, place) => {
    const scheme = schemes[name]
    const keys = secret.map((one) => scheme.key(one)).filter((key) => key !== undefined)
    if (keys.length < secret.length) place.in('secret').wrong(quoted('…'), standardSecret)
    return { scheme, keys, tolerance }
  })
  .typed<WebhookOptions>()

/** An event on its way to an endpoint: the payload of the queue. */
export interface WebhookDelivery {
  /** The name of the endpoint, by which `find` returns it. */
  readonly endpoint: string
  /** The id of the event, the same in each attempt: the header `webhook-id`. */
  readonly id: string
  /** What has happened: `order.paid`. */
  readonly type: string
  /** When it happened, in ISO 8601. */
  readonly timestamp: string
  /** What the receiver needs to know of it. */
  readonly data: unknown
}

/** Who receives events: what `find` returns for its name. */
export interface WebhookEndpoint {
  /** Its address: https, and not in a private network. */
  readonly url: string
  /** The secret of Standard Webhooks that it shares, or several while it is replaced: each signs. In base64, also with `whsec_`. */
  readonly secret: string | readonly string[]
  /** Since when every attempt has failed: what `update` was last given. */
  readonly failingSince?: Date | null | undefined
  /** Whether nothing is sent to it. */
  readonly isDisabled?: boolean | null | undefined
}

/** What has become of an endpoint, to be kept with it. */
export interface WebhookEndpointState {
  /** Since when every attempt has failed; `null` after one that has not. */
  readonly failingSince: Date | null
  /** Whether nothing more is sent to it. */
  readonly isDisabled: boolean
}

/** A webhook to be sent by POST. */
export interface WebhookRequest {
  /** The address of the endpoint. */
  readonly url: string
  /** The headers, with the signature. */
  readonly headers: Readonly<Record<string, string>>
  /** The body: JSON. */
  readonly body: string
  /** Aborts at the end of `timeout`, or when the server closes. */
  readonly signal: AbortSignal
}

/** What an endpoint responds. */
export interface WebhookResponse {
  /** 2xx: the event was accepted. 410: the endpoint does not exist any more. */
  readonly status: number
  /** The beginning of the body, for the error of the attempt. */
  readonly text?: string
}

/** How the application sends webhooks. */
export interface OutgoingWebhooksOptions {
  /** The queue of the deliveries: `queue<WebhookDelivery>('webhooks')`. Its engine keeps them, and its page shows each attempt. */
  queue: Queue<WebhookDelivery>
  /** Returns an endpoint; `undefined` or `null` if there is none of this name. */
  find(endpoint: string): WebhookEndpoint | null | undefined | Promise<WebhookEndpoint | null | undefined>
  /** Keeps what has become of an endpoint: it fails for the first time, responds again, or is disabled. */
  update(endpoint: string, state: WebhookEndpointState): void | Promise<void>
  /** How often an event is sent at most. Default 17. */
  attempts?: number
  /** The time between attempts. Default exponential from 5 seconds, with a jitter of 0.2: the last of 17 attempts is about four days after the first. */
  backoff?: PublishOptions['backoff']
  /** Milliseconds for one attempt. Default 15000. */
  timeout?: number
  /** How many events are sent at the same time by this process. Default 10. */
  concurrency?: number
  /** Milliseconds of nothing but failures after which an endpoint is disabled. Default 432000000: five days. */
  disableAfter?: number
  /** Sends a request in place of HTTP: by the proxy of the company, or in a test. It has to refuse addresses that are not public by itself. Default: a connection to a public address. */
  send?: (request: WebhookRequest) => Promise<WebhookResponse>
  /** Addresses and ranges that are reached although they are not public, also without https: `['10.1.0.0/16']`. Default none. */
  allow?: readonly string[]
}

/** Options of the plugin `webhooks`. */
export interface WebhooksOptions {
  /** Sends webhooks, by `services.webhooks`. Default: none are sent. */
  outgoing?: OutgoingWebhooksOptions
}

const isQueue = (given: unknown) => typeof (given as Queue<unknown> | null)?.subscribe === 'function'

export const webhooksOptions = option
  .shape({
    outgoing: option
      .shape({
        queue: option.value<Queue<WebhookDelivery>>("a queue: queue<WebhookDelivery>('webhooks')", isQueue).required(),
        find: option.fn<OutgoingWebhooksOptions['find']>('a function (endpoint) => …').required(),
        update: option.fn<OutgoingWebhooksOptions['update']>('a function (endpoint, state) => …').required(),
        attempts: option.int({ min: 1 }).default(17),
        backoff: backoffOption.default({ type: 'exponential', delay: 5_000, jitter: 0.2 }),
        timeout: option.ms({ min: 1 }).default(15_000),
        concurrency: option.int({ min: 1 }).default(10),
        disableAfter: option.ms({ min: 1 }).default(432_000_000),
        send: option.fn<NonNullable<OutgoingWebhooksOptions['send']>>('an async function (request) => ({ status })'),
        allow: option.list(networkOption).default([]),
      })
      .optional(),
  })
  .typed<WebhooksOptions>()
