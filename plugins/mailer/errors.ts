import { defineErrors, didYouMean } from '../../kernel/index.ts'
import { messageOf } from '../shared/values/safely.ts'

export const { MailAddressError, MailHeaderError, MailIncompleteError, MailTemplateError } = defineErrors({
  MailAddressError: (where: string, why: string) =>
    `${where} has an address that ${why}; it takes "ada@example.org", "Ada <ada@example.org>", { name, address } or a list of those`,
  MailHeaderError: (what: string, why: string) => `${what} ${why}`,
  MailIncompleteError: (what: string, call: string) => `the email has no ${what}. Call ${call} in the callback`,
  MailTemplateError: (what: string, why: string) => `${what} cannot be rendered: ${why}`,
})

export const { MailProviderError, MailSendError, MailQueueFullError, MailClosedError } = defineErrors({
  MailProviderError: (name: string, known: readonly string[]) =>
    `there is no mail provider "${name}".${didYouMean(name, known)} Known providers: ${known.join(', ')}`,
  MailSendError: (provider: string, what: string, why: string) => `the provider "${provider}" ${what}: ${why}`,
  MailQueueFullError: (count: number) =>
    `${count} emails are already waiting; the mailer sends one a second. Use a persistent queue for so many`,
  MailClosedError: () => 'the mailer is closed and accepts no email',
})

/** The reason for an error in one line, for messages. */
export const reasonOf = (error: unknown): string => messageOf(error).replace(/\s+/g, ' ').slice(0, 500)

/** The text without anything that looks like an address. */
export const withoutAddresses = (text: string): string => text.replace(/[^\s<>"]+@[^\s<>"]+/g, '…')
