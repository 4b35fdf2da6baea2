import { type WorkKind, workKind } from '../shared/work/kind.ts'
import type { MailSendTrace } from './provider.ts'
import type { MailMessage } from './transport.ts'

/** Characters of an email's content that the inspector keeps. */
const maxContent = 256 * 1024

export const work: readonly WorkKind[] = [
  workKind<MailSendTrace>({
    channel: 'mail.send',
    role: 'call',
    list: { id: 'mail', title: 'Emails' },
    help: 'Emails that were sent',
    // Includes nothing of the email itself: its addresses and its subject are personal.
    span: ({ provider }) => `mail ${provider}`,
    title: ({ mail }) => mail.subject || '(no subject)',
    note: ({ mail }) => mail.to.map(({ address }) => address).join(', '),
    data: ({ provider, mail }) => ({ provider, ...contentOf(mail) }),
    view: 'email',
    labels: { provider: { attribute: 'framework.mail.provider', of: ({ provider }) => provider } },
  }),
]

function contentOf(mail: MailMessage): Record<string, unknown> {
  const { html, text, subject, from, to, cc, bcc, replyTo, headers, messageId, priority, attachments } = mail
  return {
    ...{ messageId, subject, from, to, cc, bcc, replyTo, priority, headers },
    text: text?.slice(0, maxContent),
    html: html?.slice(0, maxContent),
    attachments: attachments.map(({ filename, path, contentType }) => ({ filename, path, contentType })),
  }
}
