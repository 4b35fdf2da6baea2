import {
  CustomAdapter,
  type EmailAddress,
  type MailAttachment,
  type MailBuilder,
  Mailer,
  type MailReceipt,
  MustacheAdapter,
  memoryTransport,
  type Recipients,
  Server,
  type TemplateAdapter,
} from 'framework'
import { type MailerOptions, mailer } from 'framework/plugins/mailer'
import { createTransport } from 'nodemailer'
import type { Equal, Expect } from './expect.ts'

const outbox = memoryTransport()
const own = new Mailer(
  {
    main: { transporter: outbox, templateAdapter: new MustacheAdapter(), from: 'shop@example.org' },
    smtp: { transporter: { host: 'a.test', port: 25, auth: { user: 'a', pass: 'b' } }, from: { address: 'a@b.c' } },
    url: { transporter: 'smtps://a.test', templateAdapter: new CustomAdapter((template) => template), from: 'a@b.c' },
    given: { transporter: createTransport({ host: 'a.test' }), from: 'Ada <a@b.c>' },
    pooled: { transporter: createTransport({ host: 'a.test', pool: true }), from: 'a@b.c' },
  },
  { defaultProvider: 'main', timeout: 5000 },
)
type _names = Expect<Equal<Parameters<typeof own.use>[0], 'main' | 'smtp' | 'url' | 'given' | 'pooled'>>
type _sent = Expect<Equal<ReturnType<typeof own.send>, Promise<MailReceipt>>>
type _later = Expect<Equal<ReturnType<typeof own.later>, Promise<{ readonly id: string }>>>
type _address = Expect<Equal<EmailAddress, `${string}@${string}`>>

const recipients: Recipients = ['a@b.c', { name: 'Ada', address: 'a@b.c' }]
const attachment: MailAttachment = { filename: 'a', content: new Uint8Array() }
own.send((mail) => {
  type _mail = Expect<Equal<typeof mail, MailBuilder>>
  const chained = mail
    .to(recipients)
    .cc('a@b.c')
    .bcc(['a@b.c'])
    .replyTo('a@b.c')
    .from('a@b.c')
    .subject('a')
    .html('a')
    .text('a')
    .template('a', { a: 1 })
    .templateFile('a.html', { a: 1 })
    .attachment(attachment)
    .attachments([attachment])
    .headers({ a: 'b' })
    .priority('low')
  type _chained = Expect<Equal<typeof chained, MailBuilder>>
  return chained
})
declare const stored: { email: string; all: string[] }
own.send((mail) =>
  mail
    .to(stored.email)
    .cc(stored.all)
    .bcc([{ name: 'Ada', address: stored.email }])
    .from(stored.email),
)
new Mailer({ main: { transporter: outbox, from: { address: stored.email } } }, { defaultProvider: 'main' })
own.use('smtp').later(async (mail) => void mail.to('a@b.c'))

const options: MailerOptions = { providers: { main: { transporter: outbox, from: 'a@b.c' } }, defaultProvider: 'main' }
const server = new Server([mailer(options)])
type _service = Expect<Equal<typeof server.services.mailer, Mailer>>
new Server({ plugins: { mailer: options } })
const adapter: TemplateAdapter = { render: (template, _data, kind) => template + kind }

// @ts-expect-error a provider is named
new Server({ plugins: { mailer: true } })
const main = { transporter: outbox, from: 'a@b.c' } as const
// @ts-expect-error one of the providers
new Server({ plugins: { mailer: { providers: { main }, defaultProvider: 'mian' } } })
// @ts-expect-error one of the providers
new Mailer({ main: { transporter: outbox, from: 'a@b.c' } }, { defaultProvider: 'mian' })
// @ts-expect-error no address
new Mailer({ main: { transporter: outbox, from: 'shop', templateAdapter: adapter } }, { defaultProvider: 'main' })
// @ts-expect-error there is no such provider
own.use('other')
// @ts-expect-error a callback only
own.send({ to: 'a@b.c', subject: 'a' })
own.send((mail) => {
  // @ts-expect-error no address
  mail.to('ada')
  // @ts-expect-error no address among several
  mail.cc(['ada@example.org', 'bob'])
  // @ts-expect-error no address after a name
  mail.from({ name: 'Ada', address: 'ada' })
  // @ts-expect-error no number
  mail.subject(5)
  // @ts-expect-error data are an object
  mail.template('a', 'b')
  // @ts-expect-error one of three
  mail.priority('urgent')
})
