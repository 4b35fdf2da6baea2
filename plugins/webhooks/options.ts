import { quoted } from '../../kernel/index.ts'
import { secrets } from '../shared/environment/secrets.ts'
import { option } from '../shared/options/index.ts'
import { schemes, type WebhookScheme } from './schemes.ts'

/** The option `webhook` of a route. */
export interface WebhookOptions {
  /** How the sender signs: `'standard'` (Standard Webhooks), `'github'` (`X-Hub-Signature-256`) or `'stripe'` (`Stripe-Signature`). */
  scheme: WebhookScheme
  /** The secret that the sender shares, or several while it is replaced: each is accepted. Of Standard Webhooks, in base64, also with `whsec_`. */
  secret: string | readonly string[]
  /** Milliseconds by which the time of the signature may differ, against replays. Default 300000. GitHub does not sign a time. */
  tolerance?: number
}

export const webhookOfRoute = option
  .shape({
    scheme: option.oneOf('standard', 'github', 'stripe').required(),
    secret: secrets.required(),
    tolerance: option.ms({ min: 1_000 }).default(300_000),
  })
  .into(({ scheme: name, secret, tolerance }, place) => {
    const scheme = schemes[name]
    const keys = secret.map((one) => scheme.key(one)).filter((key) => key !== undefined)
    if (keys.length < secret.length)
      place
        .in('secret')
        .wrong(quoted('…'), 'a secret of Standard Webhooks: 12 bytes or more in base64, with or without whsec_')
    return { scheme, keys, tolerance }
  })
  .typed<WebhookOptions>()
