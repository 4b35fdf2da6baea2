import { Server, type VerifiedWebhook } from 'framework'
import type { Equal, Expect } from './expect.ts'

const server: Server = new Server({ plugins: { webhooks: true } })
server.post('/', { webhook: { scheme: 'stripe', secret: ['a', 'b'], tolerance: 1_000 } }, (req) => {
  type _Webhook = Expect<Equal<typeof req.webhook, VerifiedWebhook>>
  return req.webhook.id.toUpperCase()
})
// @ts-expect-error: without the option, no webhook has been verified
server.post('/', (req) => req.webhook)
// @ts-expect-error: a secret is required
server.post('/', { webhook: { scheme: 'github' } }, () => 'ok')
// @ts-expect-error: an unknown scheme
server.post('/', { webhook: { scheme: 'gitlab', secret: 'a' } }, () => 'ok')
