import { definePlugin, type Middleware } from '../../kernel/index.ts'
import { bytesOf, keepBytes } from '../shared/http/body-parser.ts'
import type { SettingsOf } from '../shared/options/index.ts'
import { webhookOfRoute, webhooksOptions } from './options.ts'
import { verify } from './schemes.ts'
import { attemptsOf, WebhookSender } from './sender.ts'

/** Bytes of a body that no parser has read. */
const maxUnparsed = 1_048_576

/**
 * Verifies webhooks on routes with the option `webhook`, before their middlewares: the signature over the bytes of the body, and its time. A
 * webhook that is not verified is refused with 401; `req.webhook` has the id of the event.
 *
 * @example
 * const server = new Server({ plugins: { webhooks: true } })
 * server.post('/hooks/github', { webhook: { scheme: 'github', secret: process.env.GITHUB_SECRET! } }, (req, res) => {
 *   req.log.info({ event: req.webhook.id }, 'received')
 *   res.noContent()
 * })
 */
export const webhooks = definePlugin({
  name: 'webhooks',
  options: webhooksOptions,
  access: {
    guards: ({ options }) => options?.webhook && { conditions: { [`webhook ${options.webhook.scheme}`]: [] } },
  },
  routeOptions: { webhook: webhookOfRoute },
  // Nothing leaves the process of a test.
  memory: ({ outgoing }) =>
    outgoing === undefined ? {} : { outgoing: { ...outgoing, send: async () => ({ status: 204 }) } },
  openapi: { failures: ({ options }) => (options.webhook === undefined ? {} : { 401: 'Unauthorized' }) },
  provide: ({ outgoing }): { webhooks: WebhookSender } => ({ webhooks: new WebhookSender(outgoing) }),
  async setup(ctx, { outgoing }) {
    if (outgoing !== undefined) {
      const { queue, timeout, concurrency } = outgoing
      await queue.subscribe(await attemptsOf(outgoing, ctx.log), { timeout, concurrency })
      ctx.onReady(() => {
        // No other process could send what is in memory here.
        if (queue.kind === 'memory' || ctx.services.find('queues') !== undefined)
          Object.assign(outgoing, { queue: queue.for(ctx.server) })
      })
    }
    ctx.onRoute((route) => {
      const { webhook } = route.settings
      if (webhook === undefined) return
      keepBytes(route)
      route.add('guard', guardOf(webhook))
    })
  },
})

function guardOf({ scheme, keys, tolerance }: SettingsOf<typeof webhookOfRoute>): Middleware {
  return async function webhook(req, _res, next) {
    // Rejects if another parser has read it: what that has made of the bytes cannot be verified.
    const bytes = bytesOf(req) ?? (await req.raw.bytes(maxUnparsed))
    Object.assign(req, { webhook: verify(req, bytes, scheme, keys, tolerance) })
    return next()
  }
}
