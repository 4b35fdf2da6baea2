import { createHmac, timingSafeEqual } from 'node:crypto'
import { clock, defineErrors, type Request } from '../../kernel/index.ts'
import { safely } from '../shared/values/safely.ts'

export const { WebhookSignatureError } = defineErrors({
  WebhookSignatureError: [401, (why: string) => `the webhook is refused: ${why}`],
})

/** A webhook whose signature has been verified: `req.webhook`. */
export interface VerifiedWebhook {
  /** The id of the event, the same for each delivery of it: for de-duplication. With GitHub it is not part of what is signed. */
  readonly id: string
  /** When it was signed; `undefined` with GitHub, which does not say it. */
  readonly timestamp: Date | undefined
}

/** What a request claims: the parts that are signed, and the signatures, in the encoding of the scheme. */
interface Claim {
  readonly id: string | undefined
  readonly seconds?: string | undefined
  /** What precedes the body in the signed bytes. */
  readonly prefix: string
  readonly signatures: readonly string[]
}

interface Scheme {
  readonly encoding: 'base64' | 'hex'
  /** The bytes of a secret; `undefined` if it is not one. */
  key(secret: string): Buffer | undefined
  /** Reads the headers. */
  claim(header: (name: string) => string, body: Uint8Array): Claim
}

const utf8 = (secret: string) => Buffer.from(secret)
const values = (list: readonly string[], name: string) =>
  list.filter((one) => one.startsWith(name)).map((one) => one.slice(name.length))

/** What a secret of the first scheme is, for messages. */
export const standardSecret = 'a secret of Standard Webhooks: 12 bytes or more in base64, with or without whsec_'

/** The schemes by name. */
export const schemes = {
  /** https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md */
  standard: {
    encoding: 'base64',
    key(secret) {
      const text = secret.replace(/^whsec_/, '')
      return /^[A-Za-z0-9+/]{16,}={0,2}$/.test(text) ? Buffer.from(text, 'base64') : undefined
    },
    claim(header) {
      const [id, seconds] = [header('webhook-id'), header('webhook-timestamp')]
      const signatures = values(header('webhook-signature').split(' '), 'v1,')
      return { id, seconds, prefix: `${id}.${seconds}.`, signatures }
    },
  },
  /** https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries */
  github: {
    encoding: 'hex',
    key: utf8,
    claim: (header) => ({
      id: header('x-github-delivery'),
      prefix: '',
      signatures: values([header('x-hub-signature-256')], 'sha256='),
    }),
  },
  /** https://docs.stripe.com/webhooks#verify-manually */
  stripe: {
    encoding: 'hex',
    key: utf8,
    claim(header, body) {
      const parts = header('stripe-signature').split(',')
      const [seconds = ''] = values(parts, 't=')
      const event = safely(() => JSON.parse(Buffer.from(body).toString()) as { readonly id?: unknown } | null)
      const id = typeof event?.id === 'string' ? event.id : undefined
      return { id, seconds, prefix: `${seconds}.`, signatures: values(parts, 'v1=') }
    },
  },
} as const satisfies { readonly [name: string]: Scheme }

/** How the sender of a webhook signs: Standard Webhooks, GitHub or Stripe. */
export type WebhookScheme = keyof typeof schemes

/** Verifies the signature of a body; throws if no secret matches, or the time is not within the tolerance. */
export function verify(
  req: Request,
  body: Uint8Array,
  scheme: Scheme,
  keys: readonly Buffer[],
  tolerance: number,
): VerifiedWebhook {
  const header = (name: string) => req.raw.header(name) ?? ''
  const { id, seconds, prefix, signatures } = scheme.claim(header, body)
  // As text: decoders ignore what follows the end.
  const given = signatures.map((one) => Buffer.from(one))
  const isSigned = keys.some((key) => {
    const expected = Buffer.from(createHmac('sha256', key).update(prefix).update(body).digest(scheme.encoding))
    return given.some((one) => one.length === expected.length && timingSafeEqual(one, expected))
  })
  if (!isSigned)
    throw WebhookSignatureError('its signature is missing, or is not that of this body with a known secret')
  // After the signature: only the sender learns how the clocks differ.
  if (seconds !== undefined) {
    const isRecent = /^\d{1,12}$/.test(seconds) && Math.abs(clock.now() - Number(seconds) * 1_000) <= tolerance
    if (!isRecent) throw WebhookSignatureError(`it was signed more than ${tolerance / 1_000} s ago, or in the future`)
  }
  if (id === undefined || id === '') throw WebhookSignatureError('it has no id')
  return { id, timestamp: seconds === undefined ? undefined : new Date(Number(seconds) * 1_000) }
}
