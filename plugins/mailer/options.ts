import { checkOptions, hidden, OptionError, quoted } from '../../kernel/index.ts'
import { addressOf, type EmailAddress, type NamedAddress } from './address.ts'
import type { TemplateAdapter } from './templates/contract.ts'
import { isTransporter, type MailTransporter, type SmtpOptions } from './transport.ts'

/** One way to send. */
export interface MailProvider {
  /** An address (`smtp://…`, `smtps://…`) or options for nodemailer, a transporter of it, or `memoryTransport()`. */
  readonly transporter: string | MailTransporter | SmtpOptions
  /** What renders templates. Default none: then mails have no templates. */
  readonly templateAdapter?: TemplateAdapter
  /** The sender of a mail that names none. */
  readonly from: EmailAddress | NamedAddress
}

/** Providers by name. */
export interface MailProviders {
  readonly [name: string]: MailProvider
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
  providers: MailProviders
}

const names = ['defaultProvider', 'timeout']

/** Refuses providers and settings that cannot be meant. */
export function checkMailer(providers: unknown, settings: MailerSettings): asserts providers is MailProviders {
  checkOptions('mailer', settings, names)
  if (typeof providers !== 'object' || providers === null || Object.keys(providers).length === 0) {
    throw OptionError('mailer.providers', providers, '{ name: { transporter, templateAdapter, from } }')
  }
  for (const [name, provider] of Object.entries(providers)) checkProvider(`mailer.providers.${name}`, provider)
  const { defaultProvider, timeout } = settings
  if (typeof defaultProvider !== 'string' || !Object.hasOwn(providers, defaultProvider)) {
    throw OptionError('mailer.defaultProvider', quoted(defaultProvider), `one of ${Object.keys(providers).join(', ')}`)
  }
  if (timeout !== undefined && (typeof timeout !== 'number' || !(timeout > 0) || timeout > 2_147_483_647)) {
    throw OptionError('mailer.timeout', quoted(timeout), 'milliseconds above 0')
  }
}

function checkProvider(where: string, provider: MailProvider): void {
  checkOptions(where, provider, ['transporter', 'templateAdapter', 'from'])
  const { transporter, templateAdapter, from } = provider
  if (typeof transporter === 'string') checkUrl(`${where}.transporter`, transporter)
  else if (!isTransporter(transporter)) checkTransport(`${where}.transporter`, transporter)
  if (templateAdapter !== undefined && typeof templateAdapter?.render !== 'function') {
    throw OptionError(`${where}.templateAdapter`, templateAdapter, 'an adapter, such as new MustacheAdapter()')
  }
  if (from === undefined) throw OptionError(`${where}.from`, from, '"shop@example.org" or { name, address }')
  addressOf(`${where}.from`, from)
}

function checkTransport(where: string, transport: SmtpOptions): void {
  if (typeof transport !== 'object' || transport === null) throw OptionError(where, transport, expected)
  if (!destinations.some((name) => transport[name] !== undefined)) throw OptionError(where, transport, expected)
  const { host, port, url } = transport
  // What nodemailer asks the name server for: anything but text ends the process.
  if (host !== undefined && (typeof host !== 'string' || host === '')) {
    throw OptionError(`${where}.host`, host, 'the name or the address of a server')
  }
  if (port !== undefined && !(Number.isInteger(port) && port > 0 && port < 65_536)) {
    throw OptionError(`${where}.port`, quoted(port), 'a number from 1 to 65535')
  }
  if (url !== undefined) checkUrl(`${where}.url`, url)
}

function checkUrl(where: string, url: unknown): void {
  const isUrl = typeof url === 'string' && /^smtps?:\/\//.test(url) && URL.canParse(url)
  // Not the address itself: it has a password in it.
  if (!isUrl || new URL(url).hostname === '') throw OptionError(where, hidden(url), expected)
}

/** Without one of them nodemailer would take this machine. */
const destinations = [
  ...['host', 'url', 'service', 'connection', 'socket', 'getSocket'],
  ...['sendmail', 'SES', 'streamTransport', 'jsonTransport'],
]
const expected = 'an address such as "smtp://127.0.0.1:25", options of nodemailer ({ host, port }), or a transporter'

/** Options of the plugin, checked. */
export function settingsOf(options: MailerOptions): { providers: MailProviders; settings: MailerSettings } {
  checkOptions('mailer', options, ['providers', ...names])
  const { providers, ...settings } = options
  checkMailer(providers, settings)
  return { providers, settings }
}
