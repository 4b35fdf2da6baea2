import { definePlugin } from '../../kernel/index.ts'
import { machine } from '../shared/development/connections.ts'
import { announceBackend } from '../shared/stores/backends.ts'
import { type WorkKind, workKind } from '../shared/work/kind.ts'
import '../shared/work/open-work.ts'
import { deliverFromOutbox } from '../shared/work/outbox.ts'
import { Mailer } from './mailer.ts'
import { memoryTransport } from './memory-transport.ts'
import { type MailerOptions, type MailProviders, mailerOptions } from './options.ts'
import type { MailSendTrace } from './provider.ts'
import type { MailMessage, SmtpOptions } from './transport.ts'

/** Characters of an email's content that the inspector keeps. */
const maxContent = 256 * 1024

const work: readonly WorkKind[] = [
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

/**
 * Provides a mailer as `services.mailer`. It closes with the server, after sending the waiting emails.
 *
 * @example
 * import { memoryTransport, Server } from 'framework'
 *
 * const server = new Server({
 *   plugins: { mailer: { providers: { main: { transporter: memoryTransport(), from: 'shop@example.org' } }, defaultProvider: 'main' } },
 * })
 * server.post('/orders', async () => {
 *   await server.services.get('mailer').later((mail) => mail.to('ada@example.org').subject('Your order').text('Thank you'))
 *   return { ordered: true }
 * })
 */
export const mailer = definePlugin({
  name: 'mailer',
  access: false,
  options: mailerOptions,
  inspector: () => [
    {
      title: 'Mailer',
      columns: ['Mailer', 'Waiting emails'],
      rows: (services) => [['mailer', services.get('mailer').waiting]],
      actions: [
        {
          name: 'Verify',
          run: async (services) => {
            await services.get('mailer').verify()
            return 'The default provider can be reached and accepts the login of this mailer.'
          },
        },
      ],
    },
  ],
  work,
  reaches: ({ providers }: MailerOptions) =>
    Object.values(providers).flatMap(({ transporter }) => {
      const { url, host, secure, port = secure ? 465 : 587, service } = transporter as SmtpOptions
      const where =
        typeof transporter === 'string' ? transporter : (url ?? service ?? (host && `smtp://${host}:${port}`))
      return where ? machine('SMTP', String(where)) : []
    }),
  // Ready: emails of `later` are tried again.
  health: {
    mailer: {
      check: (services) => services.get('mailer').health(),
      onFailure: 'degraded',
      // Each check logs in, and mail services limit how often.
      cacheFor: 60_000,
      remedy: 'Start the mail server, or correct mailer.providers',
    },
  },
  openWork(services) {
    const { waiting } = services.get('mailer')
    return waiting === 0 ? [] : [{ what: `${waiting} emails of later()` }]
  },
  memory: (settings) => ({
    // Nothing to be gentle with.
    spacing: 0,
    providers: Object.fromEntries(
      Object.entries(settings.providers).map(([name, one]) => [name, { ...one, transporter: memoryTransport() }]),
    ),
  }),
  provide: (settings): { mailer: Mailer } => ({ mailer: new Mailer<MailProviders>({}, settings, settings) }),
  async setup(ctx) {
    const service = ctx.services.get('mailer')
    service.mount(ctx.server, ctx.log)
    deliverFromOutbox(ctx.server, 'mailer', (email) => service.deliver(email))
    // A missing package fails the boot, not the first order.
    for (const transporter of await service.prepare()) announceBackend(ctx.server, 'mailer', transporter)
    ctx.onDrain(() => service.drain())
    // Requests may have added more.
    ctx.onClose((timeLeft) => service.close({ timeout: timeLeft }))
  },
})

function contentOf(mail: MailMessage): Record<string, unknown> {
  const { html, text, subject, from, to, cc, bcc, replyTo, headers, messageId, priority, attachments } = mail
  return {
    ...{ messageId, subject, from, to, cc, bcc, replyTo, priority, headers },
    text: text?.slice(0, maxContent),
    html: html?.slice(0, maxContent),
    attachments: attachments.map(({ filename, path, contentType }) => ({ filename, path, contentType })),
  }
}
