// The names that `framework` has as well.
import type { Mailer } from './mailer.ts'

export type { EmailAddress, NamedAddress, Recipients } from './address.ts'
export { Mailer, type MailSender } from './mailer.ts'
export { type MailMatch, type MemoryTransport, memoryTransport } from './memory-transport.ts'
export type { MailBuilder } from './message.ts'
export type { MailerOptions, MailerSettings, MailProvider, MailProviders } from './options.ts'
export type { MailCallback, MailReceipt } from './provider.ts'
export { CustomAdapter, type TemplateAdapter } from './templates/contract.ts'
export { EdgeAdapter, type EdgeEngine } from './templates/edge.ts'
export { EjsAdapter } from './templates/ejs.ts'
export { HandlebarsAdapter, type HandlebarsEngine } from './templates/handlebars.ts'
export { MustacheAdapter } from './templates/mustache.ts'
export type { MailAttachment, MailMessage, MailTransporter, SmtpOptions } from './transport.ts'

declare module '../../kernel/plugin/services.ts' {
  interface Services {
    /** Sends emails through the configured providers, with the plugin `mailer`. */
    mailer: Mailer
  }
}
