import { createHmac } from 'node:crypto'
import { RouteCollection, Server, type WebhookOptions } from 'framework'
import { testClock } from 'framework/testing'
import { expect, test } from 'vitest'
import { memoryLogger } from '../../support/kernel.ts'

/** The examples in the documentation of the schemes. */
const examples = {
  // https://github.com/standard-webhooks/standard-webhooks, the vector of its reference libraries.
  standard: {
    at: 1614265330,
    secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    body: '{"test": 2432232314}',
    headers: {
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    },
  },
  // https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries#testing-the-webhook-payload-validation
  github: {
    at: 1614265330,
    secret: `It's a Secret to ${'Every'}body`,
    body: 'Hello, World!',
    headers: {
      'x-github-delivery': '72d3162e-cc78-11e3-81ab-4c9367dc0958',
      'x-hub-signature-256': 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
    },
  },
} as const

function serverWith(webhook: WebhookOptions, more: object = {}) {
  const plugins = { webhooks: true, ...more } as {}
  const server: Server = new Server({ plugins, router: new RouteCollection(), logger: memoryLogger() })
  server.post('/', { webhook }, (req) => ({ ...req.webhook, body: (req as { body?: unknown }).body }))
  return server
}

async function send(server: Server, headers: { readonly [name: string]: string }, body: string, type = 'text/plain') {
  const res = await server.inject.post('/', { headers: { 'content-type': type, ...headers }, body: Buffer.from(body) })
  return { status: res.statusCode(), body: res.body() as { [name: string]: unknown } }
}

for (const scheme of ['standard', 'github'] as const)
  test(`the published example of ${scheme} is accepted, and any change of it refused`, async () => {
    using _clock = testClock(new Date(examples[scheme].at * 1_000))
    const { secret, body, headers } = examples[scheme]
    await using server = serverWith({ scheme, secret: ['another secret 0123456789abcdef'.replaceAll(' ', ''), secret] })
    const good = await send(server, headers, body)
    expect([good.status, good.body.id]).toEqual([200, Object.values(headers)[0]])
    for (const [name, value] of Object.entries(headers)) {
      if (name === 'x-github-delivery') continue
      for (const changed of ['', `${value}0`, value.slice(0, -2), value.replace(/[0-24-9]/, '3')])
        expect((await send(server, { ...headers, [name]: changed }, body)).status).toBe(401)
      const { [name]: _, ...others } = headers as { [name: string]: string }
      expect((await send(server, others, body)).status).toBe(401)
    }
    expect((await send(server, headers, `${body} `)).status).toBe(401)
    expect((await send(server, headers, '')).status).toBe(401)
  })

const stripeSecret = 'whsec_0123456789abcdef'
const stripe = (seconds: number, body: string, secret = stripeSecret) =>
  `v1=${createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')}`
const now = 1_700_000_000

test('Stripe: the signed time, several signatures, the id of the event, the parsed body', async () => {
  using clock = testClock(new Date(now * 1_000))
  await using server = serverWith({ scheme: 'stripe', secret: stripeSecret })
  const body = '{ "id": "evt_1", "object": "event" }'
  const header = `t=${now},v1=${'0'.repeat(64)},${stripe(now, body)},v0=1`
  const accepted = await send(server, { 'stripe-signature': header }, body, 'application/json')
  expect([accepted.status, accepted.body]).toMatchObject([200, { id: 'evt_1', body: { id: 'evt_1', object: 'event' } }])
  // `v0` is a scheme for tests, which must not be accepted.
  const downgraded = `t=${now},${stripe(now, body).replace('v1', 'v0')}`
  expect((await send(server, { 'stripe-signature': downgraded }, body)).status).toBe(401)
  // The time is part of what is signed.
  expect((await send(server, { 'stripe-signature': `t=${now + 1},${stripe(now, body)}` }, body)).status).toBe(401)
  const future = `t=${now + 301},${stripe(now + 301, body)}`
  expect((await send(server, { 'stripe-signature': future }, body)).status).toBe(401)
  await clock.advance(301_000)
  expect((await send(server, { 'stripe-signature': header }, body)).body).toMatchObject({
    code: 'WebhookSignatureError',
  })
  const nameless = '{}'
  expect(
    (await send(server, { 'stripe-signature': `t=${now + 300},${stripe(now + 300, nameless)}` }, nameless)).status,
  ).toBe(401)
})

test('a time that is not a number is refused, although it is signed', async () => {
  await using server = serverWith({ scheme: 'stripe', secret: stripeSecret })
  const body = '{"id":"evt_1"}'
  for (const time of ['', 'NaN', 'Infinity', '1e99', '-1'])
    expect((await send(server, { 'stripe-signature': `t=${time},${stripe(time as never, body)}` }, body)).status).toBe(
      401,
    )
})

test('nothing of the route runs before the signature is verified', async () => {
  let ran = 0
  const server: Server = new Server({ plugins: { webhooks: true }, router: new RouteCollection() })
  const middleware = (_req: unknown, _res: unknown, next: () => void) => {
    ran++
    return next()
  }
  server.post(
    '/',
    { webhook: { scheme: 'github', secret: examples.github.secret }, middlewares: [middleware] },
    () => ++ran,
  )
  expect((await send(server, {}, 'Hello, World!')).status).toBe(401)
  expect(ran).toBe(0)
  await server.close()
})

test('a body that another parser has read is an error, never accepted', async () => {
  const server: Server = new Server({
    plugins: { webhooks: true },
    router: new RouteCollection(),
    logger: memoryLogger(),
  })
  server.use(async (req, _res, next) => {
    await req.raw.bytes(1_000)
    return next()
  })
  server.post('/', { webhook: { scheme: 'github', secret: examples.github.secret } }, () => 'ok')
  expect((await send(server, examples.github.headers, examples.github.body)).status).toBe(500)
  await server.close()
})

test('a secret that is not one, a missing one and a server without the plugin fail the boot', async () => {
  for (const webhook of [
    { scheme: 'standard', secret: 'not base64 at all!' },
    { scheme: 'github', secret: '' },
    { scheme: 'github' },
    { scheme: 'gitlab', secret: 'x'.repeat(20) },
  ]) {
    const server = serverWith(webhook as WebhookOptions)
    await expect(server.ready()).rejects.toThrow(/webhook/)
    await server.close()
  }
  const more = { webhooks: false }
  const server = serverWith({ scheme: 'github', secret: 'x'.repeat(20) }, more)
  await expect(server.ready()).rejects.toThrow(/webhooks/)
  await server.close()
  const without: Server = new Server({ router: new RouteCollection() })
  without.post('/', { webhook: { scheme: 'github', secret: 'x'.repeat(20) } }, () => 'ok')
  await expect(without.ready()).rejects.toThrow(/webhooks/)
  await without.close()
})
