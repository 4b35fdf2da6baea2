import { quoted } from '../../kernel/index.ts'
import { isProduction } from '../shared/environment/node-env.ts'
import { foreignOption } from '../shared/options/foreign-options.ts'
import { option, type SettingsOf } from '../shared/options/index.ts'
import { defined } from '../shared/values/json.ts'
import { addressOf, type CheckedAddresses, type NamedAddress } from './address.ts'
import { MailAddressError } from './errors.ts'
import { MemoryTransport } from './memory-transport.ts'
import type { TemplateAdapter } from './templates/contract.ts'
import { isTransporter, type MailTransporter, type SmtpOptions } from './transport.ts'

/** One provider, through which emails are sent. */
export interface MailProvider {
  /** An address (`smtp://…`, `smtps://…`) or options for nodemailer, one of its transporters, or `memoryTransport()`. */
  readonly transporter: string | MailTransporter | SmtpOptions
  /** The template engine. Default none: then emails cannot use templates. */
  readonly templateAdapter?: TemplateAdapter
  /** The default sender of emails: an address, bare or as `Ada <ada@example.org>`. */
  readonly from: string | NamedAddress
}

/** Providers by name. */
export interface MailProviders {
  readonly [name: string]: MailProvider
}

/** The type providers are compared with. The first branch is never taken; it serves to infer `Providers`. */
export type CheckedProviders<Providers> = [Providers] extends [never]
  ? Providers
  : {
      readonly [Name in keyof Providers]: Providers[Name] extends { readonly from: infer From }
        ? Omit<MailProvider, 'from'> & { readonly from: CheckedAddresses<From> }
        : MailProvider
    }

/** The second argument of `new Mailer`. */
export interface MailerSettings<Name extends string = string> {
  /** The provider of `send` and `later`. */
  defaultProvider: Name
  /** Milliseconds for one attempt to send. Default 9000. */
  timeout?: number
}

/** Options of the mailer plugin. */
export interface MailerOptions extends MailerSettings {
  /** The providers by name: how each sends, from whom, and with which templates. */
  providers: MailProviders
}

const isSmtpAddress = (given: unknown) =>
  typeof given === 'string' && /^smtps?:\/\//.test(given) && URL.canParse(given) && new URL(given).hostname !== ''

const expected = 'an address such as "smtp://127.0.0.1:25", options of nodemailer ({ host, port }), or a transporter'
// Secret, because it may contain a password.
const address = option.value<string>(expected, isSmtpAddress).secret()
const text = option.value<string>('text', (given) => typeof given === 'string')

/** Without any of these options nodemailer would use this machine. */
const destinations = [
  ...['host', 'url', 'service', 'connection', 'socket', 'getSocket'],
  ...['sendmail', 'SES', 'streamTransport', 'jsonTransport'],
]

const auth = option
  .shape({ user: text, pass: text.secret(), type: option.name() }, foreignOption(['user', 'pass', 'type']))
  .into((given): { readonly [option: string]: unknown } => defined(given))

const smtp = option
  .shape(
    {
      // Nodemailer passes it to the resolver, where anything but a string ends the process.
      host: option.name(/./, 'the name or the address of a server'),
      port: option.int({ min: 1, max: 65_535 }).says('a number from 1 to 65535'),
      url: address,
      secure: option.flag(),
      requireTLS: option.flag(),
      pool: option.flag(),
      auth: auth.optional(),
    },
    foreignOption([
      ...[...destinations, 'path', 'port', 'secure', 'secured', 'requireTLS', 'ignoreTLS', 'opportunisticTLS', 'pool'],
      ...['auth', 'authMethod', 'name', 'localAddress', 'proxy', 'dkim', 'dnsTimeout', 'greetingTimeout'],
      ...['connectionTimeout', 'socketTimeout', 'maxConnections', 'maxMessages', 'rateDelta', 'rateLimit'],
    ]),
  )
  .into((given): { readonly [option: string]: unknown } => defined(given))
  .into((given, place) => {
    if (!destinations.some((name) => Object.hasOwn(given, name))) place.wrong(given, expected)
    return given
  })

const own = option.value<MailTransporter>('a transporter', isTransporter).secret()

const sender = option.custom<MailProvider['from'], { name: string; address: string }>(
  '"shop@example.org" or { name, address }',
  (given, place) => {
    try {
      return addressOf(place.path, given)
    } catch (error) {
      if ((error as { code?: unknown }).code !== MailAddressError.code) throw error
      return void place.problem((error as Error).message)
    }
  },
)

const provider = option
  .shape({
    transporter: option.either(address, own, smtp).says(expected).required(),
    templateAdapter: option.having<TemplateAdapter>(['render'], 'an adapter, such as new MustacheAdapter()'),
    from: sender.required(),
  })
  .says('{ transporter, templateAdapter, from }')

/** Whether a transporter is one for tests and development, which reports every email as sent. */
function sendsNothing(transporter: unknown): boolean {
  const { jsonTransport, streamTransport } = transporter as { jsonTransport?: unknown; streamTransport?: unknown }
  return transporter instanceof MemoryTransport || Boolean(jsonTransport) || Boolean(streamTransport)
}

export const mailerOptions = option
  .shape({
    providers: option.record(provider, '{ name: { transporter, templateAdapter, from } }').required(),
    defaultProvider: option.name().says('the name of one of the providers').required(),
    timeout: option.ms({ above: 0 }).default(9000),
  })
  .into((given, place) => {
    const names = Object.keys(given.providers)
    if (names.length === 0) place.in('providers').wrong({}, '{ name: { transporter, templateAdapter, from } }')
    else if (!names.includes(given.defaultProvider)) {
      place.in('defaultProvider').wrong(quoted(given.defaultProvider), `one of ${names.join(', ')}`)
    }
    if (isProduction()) {
      for (const [name, { transporter }] of Object.entries(given.providers)) {
        if (!sendsNothing(transporter)) continue
        const { path } = place.in('providers').in(name).in('transporter')
        place.problem(
          `${path} would keep emails in this process and report them as sent: NODE_ENV=production needs a server, "smtp://…"`,
        )
      }
    }
    return { ...given, spacing: 1000 }
  })
  .typed<MailerOptions>()
  .required(
    'at least one provider: { providers: { main: { transporter: "smtp://…", from: "shop@example.org" } }, defaultProvider: "main" }',
  )

/** The settings of a mailer. */
export type MailerConfiguration = SettingsOf<typeof mailerOptions>
export type ProviderSettings = MailerConfiguration['providers'][string]
