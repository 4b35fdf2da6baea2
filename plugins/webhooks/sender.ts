import { createHmac, randomUUID } from 'node:crypto'
import { clock, defineErrors, type Logger } from '../../kernel/index.ts'
import type { QueueMessage } from '../queues/index.ts'
import { option, type SettingsOf } from '../shared/options/index.ts'
import { messageOf } from '../shared/values/safely.ts'
import type { WebhookDelivery, WebhookEndpoint, webhooksOptions } from './options.ts'
import { schemes, standardSecret } from './schemes.ts'

const { WebhookEndpointError, WebhookDeliveryError, WebhookSendingError } = defineErrors({
  WebhookEndpointError: (name: string, why: string) => `the webhook endpoint "${name}" ${why}`,
  WebhookDeliveryError: (name: string, why: string) =>
    `the webhook endpoint "${name}" did not accept the event: ${why}`,
  WebhookSendingError: () =>
    'this server sends no webhooks. Say how: plugins: { webhooks: { outgoing: { queue, find, update } } }',
})

export type Outgoing = NonNullable<SettingsOf<typeof webhooksOptions>['outgoing']>

/** An event for an endpoint. */
export interface WebhookEvent {
  /** What has happened: `order.paid`. */
  readonly type: string
  /** What the receiver needs to know of it; sent as JSON. */
  readonly data: unknown
  /** The id by which the receiver recognises an event that it already has, 1 to 255 visible ASCII characters. Default: a new one. */
  readonly id?: string
  /** When it happened. Default: now. */
  readonly timestamp?: Date
}

const isDate = (given: unknown) => given instanceof Date && !Number.isNaN(given.getTime())
const eventOptions = option.shape({
  type: option.name().required(),
  data: option.value<unknown>('anything that JSON has'),
  // A header loses spaces at its ends, and libraries read other characters in it in several ways: the signature would not fit.
  id: option.name(/^[!-~]{1,255}$/, '1 to 255 visible ASCII characters, as encodeURIComponent makes them'),
  timestamp: option.value<Date>('a valid Date', isDate),
})

/** Sends webhooks: `services.webhooks`. */
export class WebhookSender {
  readonly #outgoing: Outgoing | undefined

  /** @internal */
  constructor(outgoing: Outgoing | undefined) {
    this.#outgoing = outgoing
  }

  /**
   * Leaves an event to the queue, which sends it to an endpoint, signed by Standard Webhooks; resolves with its `id` once the queue has it. In a
   * transaction of the plugin `database`, it leaves after the commit. Resolves with `undefined`, and sends nothing, if the endpoint is disabled.
   *
   * @throws (as a rejection) WebhookEndpointError if there is no such endpoint; WebhookSendingError without the option `outgoing`; OptionError for an
   * event without a type, with an id that cannot be a header, or with another member; the errors of `publish` of the queue.
   * @example
   * server.post('/orders/:id/pay', async (req) => {
   *   await server.services.get('webhooks').deliver('customer-7', { type: 'order.paid', data: { order: req.params.id } })
   * })
   */
  async deliver(endpoint: string, event: WebhookEvent): Promise<{ id: string } | undefined> {
    if (this.#outgoing === undefined) throw WebhookSendingError()
    const { queue, find, attempts, backoff } = this.#outgoing
    const given = eventOptions.parse(event, 'deliver')
    const { type, data = null, id = `msg_${randomUUID()}`, timestamp = new Date(clock.now()) } = given
    const found = await find(endpoint)
    if (found == null) throw WebhookEndpointError(endpoint, 'does not exist')
    signatureOf(found, endpoint, '')
    if (found.isDisabled) return undefined
    const delivery = { endpoint, id, type, timestamp: timestamp.toISOString(), data }
    await queue.publish(delivery, { attempts, backoff })
    return { id }
  }
}

/** Returns what makes one attempt at a delivery. */
export async function attemptsOf(outgoing: Outgoing, log: Logger) {
  const { find, update, disableAfter } = outgoing
  // Loaded only where it is used: `node:https` takes 15 ms of a start.
  const send = outgoing.send ?? (await import('./post.ts')).poster(outgoing.allow)

  /** Resolves with why it has failed, if it has. */
  async function post(endpoint: WebhookEndpoint, delivery: WebhookDelivery, signal: AbortSignal) {
    const { endpoint: name, id, type, timestamp, data } = delivery
    const body = JSON.stringify({ type, timestamp, data })
    const seconds = String(Math.floor(clock.now() / 1_000))
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'framework-webhooks',
      'webhook-id': id,
      'webhook-timestamp': seconds,
      'webhook-signature': signatureOf(endpoint, name, `${id}.${seconds}.${body}`),
    }
    try {
      const { status, text = '' } = await send({ url: endpoint.url, headers, body, signal })
      if (status >= 200 && status < 300) return undefined
      return { why: `it responded with ${status}${text === '' ? '' : `: ${text}`}`, isGone: status === 410 }
    } catch (error) {
      return { why: messageOf(signal.aborted ? signal.reason : error), isGone: false }
    }
  }

  return async (delivery: WebhookDelivery, { signal }: QueueMessage): Promise<void> => {
    const { endpoint: name } = delivery
    const endpoint = await find(name)
    if (endpoint == null) throw WebhookEndpointError(name, 'does not exist any more')
    if (endpoint.isDisabled) throw WebhookEndpointError(name, 'is disabled')
    const failure = await post(endpoint, delivery, signal)
    const { failingSince } = endpoint
    if (failure === undefined) {
      if (failingSince != null) await update(name, { failingSince: null, isDisabled: false })
      return
    }
    // When the server closes, the engine delivers it again.
    const isGivenBack = signal.aborted && (signal.reason as { code?: unknown }).code !== 'HandlerTimeoutError'
    if (!isGivenBack) {
      const since = failingSince ?? new Date(clock.now())
      const isDisabled = failure.isGone || clock.now() - since.getTime() >= disableAfter
      if (isDisabled || failingSince == null) await update(name, { failingSince: since, isDisabled })
      if (isDisabled) log.error({ endpoint: name }, `the webhook endpoint "${name}" is disabled: ${failure.why}`)
    }
    throw WebhookDeliveryError(name, failure.why)
  }
}

function signatureOf({ secret }: WebhookEndpoint, name: string, text: string): string {
  const keys = [secret].flat().map((one) => (typeof one === 'string' ? schemes.standard.key(one) : undefined))
  if (keys.length === 0 || keys.includes(undefined)) throw WebhookEndpointError(name, `does not have ${standardSecret}`)
  return keys.map((key) => `v1,${createHmac('sha256', key!).update(text).digest('base64')}`).join(' ')
}
