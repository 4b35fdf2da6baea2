import type { Built } from '../micro/built.ts'
import type { MicroCase } from '../micro/harness.ts'
import { missing, must, pair } from './pair.ts'

const mail = {
  from: 'shop@example.org',
  to: 'ada@example.org',
  subject: 'Your order 4711',
  text: 'Thank you for your order.\n'.repeat(20),
}

/** Sends a plain-text mail: into memory, with nodemailer's `jsonTransport`, and to a server over persistent connections. */
export async function mailCases(built: Built): Promise<MicroCase[]> {
  const { Mailer, memoryTransport } = await built.door()
  const { createTransport } = (await import('nodemailer')).default
  const { 'smtp-server': url } = built.services
  // It is refused in production, because it sends nothing.
  process.env.NODE_ENV = 'test'
  const transporter = memoryTransport()
  const memory = new Mailer({ main: { transporter, from: mail.from } }, { defaultProvider: 'main' })
  const json = createTransport({ jsonTransport: true })
  const send = async (mailer: Pick<typeof memory, 'send'>) => {
    const { accepted } = await mailer.send((one) => one.to(mail.to).subject(mail.subject).text(mail.text))
    must(accepted[0] === mail.to, 'the email was not accepted')
  }
  const cases = pair('send, memory', 1, {
    'by hand': async () => must((await json.sendMail(mail)).envelope.to[0] === mail.to, 'the email was not accepted'),
    framework: () => send(memory),
  })
  if (url === undefined) return [...cases, missing('send, SMTP', 'smtp-server')]
  const { hostname: host, port } = new URL(url)
  const options = { host, port: Number(port), pool: true, maxConnections: 4, maxMessages: Number.POSITIVE_INFINITY }
  const smtp = new Mailer({ main: { transporter: options, from: mail.from } }, { defaultProvider: 'main' })
  const pool = createTransport(options)
  return [
    ...cases,
    ...pair('send, SMTP', 4, {
      'by hand': async () => must((await pool.sendMail(mail)).accepted[0] === mail.to, 'the email was not accepted'),
      framework: () => send(smtp),
    }),
  ]
}
