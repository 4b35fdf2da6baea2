import { definePlugin } from '../../kernel/index.ts'
import { machine } from '../shared/development/connections.ts'
import { announceBackend } from '../shared/stores/backends.ts'
import '../shared/work/open-work.ts'
import { deliverFromOutbox } from '../shared/work/outbox.ts'
import { Mailer } from './mailer.ts'
import { memoryTransport } from './memory-transport.ts'
import { type MailerOptions, type MailProviders, mailerOptions } from './options.ts'
import type { SmtpOptions } from './transport.ts'
import { work } from './work.ts'

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
  inspector: async () => (await import('./inspector.ts')).panels,
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
