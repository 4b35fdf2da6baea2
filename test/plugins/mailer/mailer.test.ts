import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  EdgeAdapter,
  EjsAdapter,
  type MailBuilder,
  Mailer,
  type MailMessage,
  MustacheAdapter,
  memoryTransport,
} from 'framework'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { mailerOptions } from '../../../plugins/mailer/options.ts'
import { OpenProvider } from '../../../plugins/mailer/provider.ts'
import { makePipe } from '../../support/pipe.ts'
import { quickest } from '../../support/quickest.ts'

const from = 'shop@example.org'
let outbox = memoryTransport()
beforeEach(() => {
  outbox = memoryTransport()
})
const makeMailer = () =>
  new Mailer(
    { main: { transporter: outbox, templateAdapter: new MustacheAdapter(), from } },
    { defaultProvider: 'main' },
  )

/** What one email became. */
async function sent(fill: (mail: MailBuilder) => unknown): Promise<MailMessage> {
  await makeMailer().send(fill)
  return outbox.sent.at(-1)!
}
const hello = (mail: MailBuilder) => mail.to('ada@example.org').subject('Hello')

describe('an email', () => {
  test('has the values of the builder', async () => {
    const receipt = await makeMailer().send((mail) =>
      mail
        .to('ada@example.org')
        .to(['Bob <bob@example.org>', { name: 'Cléo, "C"', address: 'cleo@example.org' }])
        .cc('"Dan D." <dan@example.org>')
        .bcc(['eve@example.org', 'ada@example.org'])
        .replyTo('answers@example.org')
        .from({ name: 'Sales', address: 'sales@münchen.example' })
        .subject('Hello')
        .text('plain')
        .html('<b>{{html}}</b>')
        .headers({ 'X-Campaign': 'spring', 'List-Unsubscribe': '<https://a.test/>' })
        .priority('high')
        .attachment({ filename: 'a.txt', content: 'a' })
        .attachments([
          { filename: 'b.bin', content: new Uint8Array([0, 255]), contentType: 'application/x-b', cid: 'b' },
        ]),
    )
    const mail = outbox.sent[0]!
    expect(mail).toMatchObject({
      from: { name: 'Sales', address: 'sales@münchen.example' },
      to: [
        { name: '', address: 'ada@example.org' },
        { name: 'Bob', address: 'bob@example.org' },
        { name: 'Cléo, "C"', address: 'cleo@example.org' },
      ],
      cc: [{ name: 'Dan D.', address: 'dan@example.org' }],
      replyTo: [{ name: '', address: 'answers@example.org' }],
      subject: 'Hello',
      text: 'plain',
      html: '<b>{{html}}</b>',
      headers: { 'X-Campaign': 'spring', 'List-Unsubscribe': '<https://a.test/>' },
      priority: 'high',
      disableUrlAccess: true,
      disableFileAccess: true,
    })
    expect(mail.attachments.map(({ filename }) => filename)).toEqual(['a.txt', 'b.bin'])
    const everyone = ['ada', 'bob', 'cleo', 'dan', 'eve'].map((name) => `${name}@example.org`)
    expect(mail.envelope).toEqual({ from: 'sales@münchen.example', to: everyone })
    expect(receipt).toEqual({ id: mail.messageId, accepted: everyone, rejected: [] })
    expect(receipt.id).toMatch(/^<[\da-f-]{36}@xn--mnchen-3ya\.example>$/)
  })

  test('comes from the provider unless it says otherwise, and its callback may be async', async () => {
    expect((await sent(async (mail) => void hello(mail))).from).toEqual({ name: '', address: from })
  })

  test.each([
    ['recipient', (mail: MailBuilder) => mail.subject('Hello'), 'the email has no recipient. Call to('],
    ['recipient', (mail: MailBuilder) => mail.to([]).subject('Hello'), 'the email has no recipient. Call to('],
    ['subject', (mail: MailBuilder) => mail.to('ada@example.org'), 'the email has no subject. Call subject('],
    ['subject', (mail: MailBuilder) => hello(mail).subject(' '), 'the email has no subject. Call subject('],
    [
      'subject',
      (mail: MailBuilder) => hello(mail).subject('{{name}}').template('a', { name: '' }),
      'the email has no subject. Call subject(',
    ],
  ])('without a %s is an error that says so', async (_what, fill, message) => {
    await expect(sent(fill)).rejects.toMatchObject({
      code: 'MailIncompleteError',
      message: expect.stringContaining(message),
    })
    outbox.assertCount(0)
  })

  test('an error of the callback arrives', async () => {
    await expect(makeMailer().send(() => Promise.reject(new Error('mine')))).rejects.toThrow('mine')
  })

  test.each([undefined, null, {}, 'a'])('%j is not a callback', async (callback) => {
    await expect(makeMailer().send(callback as never)).rejects.toMatchObject({ code: 'OptionError' })
  })

  test('does not wait for a path that is not a file, neither when it is written nor when it is sent', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'framework-mailer-'))
    try {
      const pipe = makePipe(join(folder, 'pipe'))
      for (const path of [pipe, folder]) {
        await expect(sent((one) => hello(one).attachment({ path }))).rejects.toMatchObject({
          code: 'MailHeaderError',
          message: expect.stringMatching(
            /the attachment's path is not usable: .* is a (named pipe|folder), not a file/,
          ),
        })
      }
      const file = join(folder, 'file')
      writeFileSync(file, 'content')
      const provider = new OpenProvider(
        'main',
        { transporter: outbox, from: { name: '', address: from }, templateAdapter: undefined },
        1000,
      )
      const mail = await provider.compose((one) => hello(one).attachment({ path: file }))
      rmSync(file)
      makePipe(file)
      await expect(provider.send(mail)).rejects.toMatchObject({
        code: 'MailSendError',
        message: expect.stringMatching(/file is a named pipe, not a file/),
      })
      expect(outbox.sent).toEqual([])
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  test('has files by their own names, and a header of any name', async () => {
    class Invoice {
      get filename() {
        return 'invoice.txt'
      }
      get content() {
        return 'ten'
      }
    }
    const mail = await sent((one) =>
      hello(one)
        .attachment({ path: '/srv/invoices/5' })
        .attachment(new Invoice())
        .headers(JSON.parse('{"__proto__":"a","constructor":"b"}')),
    )
    expect(mail.attachments).toEqual([
      { path: '/srv/invoices/5', filename: '5' },
      { filename: 'invoice.txt', content: 'ten' },
    ])
    expect(mail).toMatchObject({ disableFileAccess: false, disableUrlAccess: true })
    expect(Object.entries(mail.headers)).toEqual([
      ['__proto__', 'a'],
      ['constructor', 'b'],
    ])
  })
})

describe('no input forges a header or a recipient', () => {
  const addresses: [string, unknown][] = [
    ['a line break', 'ada@example.org\r\nBcc: eve@example.org'],
    ['a line feed in the local part', 'a\nda@example.org'],
    ['a line break in the name', 'Ada\r\nBcc: eve@example.org <ada@example.org>'],
    ['a line break in the name of an object', { name: 'Ada\nX: y', address: 'ada@example.org' }],
    ['NUL', 'ada\0@example.org'],
    ['a group', 'friends: ada@example.org, eve@example.org;'],
    ['a list in one text', 'ada@example.org, eve@example.org'],
    ['a list in an object', { address: 'ada@example.org,eve@example.org' }],
    ['a quoted local part', '"eve@example.org,"@example.org'],
    ['a comment', 'ada(eve@example.org)@example.org'],
    ['a route', '<@example.org:ada@example.org>'],
    ['an address in an address', 'Ada <<eve@example.org>>'],
    ['two of them', 'ada@example.org <eve@example.org'],
    ['an address literal', 'ada@[127.0.0.1]'],
    ['two at signs', 'ada@eve@example.org'],
    ['a space', 'ada @example.org'],
    ['a domain with an empty label', 'ada@example..org'],
    ['no domain', 'ada@'],
    ['no local part', '@example.org'],
    ['no text', 5],
    ['null', null],
    ['nothing', undefined],
    ['an object with a toString', { address: { toString: () => 'ada@example.org' } }],
    // biome-ignore lint/suspicious/noSparseArray: it is what is tested
    ['a hole in a list', [, 'ada@example.org']],
    ['a letter that no one sees', 'ada\u200b@example.org'],
    ['half a letter', 'ada\ud800@example.org'],
  ]
  for (const method of ['to', 'cc', 'bcc', 'replyTo', 'from'] as const) {
    test.each(addresses)(`${method}: %s`, async (_what, address) => {
      const attempt = sent((mail) => hello(mail)[method as 'to'](address as string))
      await expect(attempt).rejects.toMatchObject({ code: 'MailAddressError' })
      await expect(attempt).rejects.toThrow(new RegExp(`^${method} has an address that`))
      outbox.assertCount(0)
    })
  }

  test('50 kB of nesting are refused at once', async () => {
    const half = 25_000
    const bombs = [
      `${'<'.repeat(half)}a@b.c${'>'.repeat(half)}`,
      `${'('.repeat(half)}a@b.c${')'.repeat(half)}`,
      `${'g:'.repeat(half)}a@b.c`,
      `${'"'.repeat(2 * half)}@b.c`,
      `${'a@'.repeat(half)}b.c`,
      `a@${'b.'.repeat(half)}c`,
      `${' '.repeat(2 * half)}<a@b.c>`,
    ]
    for (const bomb of bombs) {
      const sending = () =>
        expect(sent((mail) => hello(mail).to(bomb as 'a@b'))).rejects.toMatchObject({ code: 'MailAddressError' })
      expect((await quickest(sending, 5, 50)).ms).toBeLessThan(50)
    }
  })

  test.each([
    ['the subject', (mail: MailBuilder) => mail.subject('Hello\r\nBcc: eve@example.org')],
    [
      'the subject, by data',
      (mail: MailBuilder) => mail.subject('Hello {{{name}}}').template('a', { name: 'Ada\nBcc: eve@example.org' }),
    ],
    ['the value of a header', (mail: MailBuilder) => mail.headers({ 'X-A': 'a\r\nBcc: eve@example.org' })],
    ['the name of a header', (mail: MailBuilder) => mail.headers({ 'X-A: b\r\nBcc': 'eve@example.org' })],
    ['a header with a method of its own', (mail: MailBuilder) => mail.headers({ BCC: 'eve@example.org' })],
    [
      'a header that is not text',
      (mail: MailBuilder) => mail.headers({ 'X-A': { prepared: true, value: 'a' } as never }),
    ],
    ['the name of a file', (mail: MailBuilder) => mail.attachment({ filename: 'a"\r\nX: y', content: '' })],
    ['the type of a file', (mail: MailBuilder) => mail.attachment({ content: '', contentType: 'text/plain\r\nX: y' })],
    ['the id of a file', (mail: MailBuilder) => mail.attachment({ content: '', cid: 'a\nb' })],
    ['a file of the web', (mail: MailBuilder) => mail.attachment({ path: 'http://169.254.169.254/' })],
    ['a file as data', (mail: MailBuilder) => mail.attachment({ path: 'data:text/plain,a' })],
    [
      'another field of a file',
      (mail: MailBuilder) => mail.attachment({ href: 'http://a.test', content: '' } as never),
    ],
    ['a file without content', (mail: MailBuilder) => mail.attachment({ filename: 'a' })],
    ['a file of another kind', (mail: MailBuilder) => mail.attachment({ content: {} as string })],
    ['a file of no name', (mail: MailBuilder) => mail.attachment({ path: '' })],
    ['a word longer than a line', (mail: MailBuilder) => mail.subject('x'.repeat(1000))],
    ['headers of fetch', (mail: MailBuilder) => mail.headers(new Headers({ 'X-A': 'a' }) as never)],
    ['headers in a Map', (mail: MailBuilder) => mail.headers(new Map([['X-A', 'a']]) as never)],
    ['no headers', (mail: MailBuilder) => mail.headers(null as never)],
    ['a priority', (mail: MailBuilder) => mail.priority('urgent\r\n' as 'high')],
  ])('%s', async (_what, fill) => {
    await expect(sent((mail) => fill(hello(mail)))).rejects.toMatchObject({ code: 'MailHeaderError' })
    outbox.assertCount(0)
  })
})

describe('templates', () => {
  test('make the body, the subject and the text of the same data', async () => {
    const mail = await sent((one) =>
      hello(one)
        .subject('{{shop}}: hello {{name}}')
        .text('Hello {{name}}')
        .template('<p>{{name}}</p>', { name: 'A & <b>', shop: 'X&Y' }),
    )
    expect(mail).toMatchObject({
      subject: 'X&Y: hello A & <b>',
      text: 'Hello A & <b>',
      html: '<p>A &amp; &lt;b&gt;</p>',
    })
  })

  test.each([
    ['EJS', new EjsAdapter(), '<%= name %>', '<% globalThis.ran = true %>', '<%= globalThis.ran = true %>'],
    ['Edge', new EdgeAdapter(), '{{ name }}', '@eval(globalThis.ran = true)', '{{ globalThis.ran = true }}'],
  ])('of programs run nothing that got into a subject or a text: %s', async (_name, templateAdapter, tag, first, second) => {
    const mailer = new Mailer({ main: { transporter: outbox, templateAdapter, from } }, { defaultProvider: 'main' })
    const data = { name: 'A & B' }
    for (const code of [first, second]) {
      for (const fill of [
        (mail: MailBuilder) => hello(mail).subject(`Hello ${code}`.replace('Hello @', '@')),
        (mail: MailBuilder) => hello(mail).text(code),
      ]) {
        const sending = mailer.send((mail) => fill(mail).template('<p></p>', data))
        await expect(sending).rejects.toMatchObject({
          code: 'MailTemplateError',
          message: expect.stringMatching(/^the (?:subject|text) cannot be rendered: .*run no code/),
        })
      }
    }
    expect(globalThis).not.toHaveProperty('ran')
    // The template is its author's, and its data never runs as a program.
    await mailer.send((mail) =>
      hello(mail).subject(`Hello ${tag}`).text(tag).template(`<p>${tag}</p>`, { name: second }),
    )
    expect(outbox.sent.at(-1)).toMatchObject({ subject: `Hello ${second}`, text: second })
    expect(globalThis).not.toHaveProperty('ran')
  })

  test('are not looked for without one', async () => {
    const mail = await sent((one) => hello(one).subject('{{a}}').text('{{b}}').html('{{c}}'))
    expect(mail).toMatchObject({ subject: '{{a}}', text: '{{b}}', html: '{{c}}' })
  })

  test('may be files', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'framework-mailer-'))
    try {
      const file = join(folder, 'hello.html')
      writeFileSync(file, '<p>{{name}}</p>')
      expect((await sent((one) => hello(one).templateFile(file, { name: 'Ada' }))).html).toBe('<p>Ada</p>')
      writeFileSync(file, '<p>new {{name}}</p>')
      expect((await sent((one) => hello(one).templateFile(file, { name: 'Ada' }))).html).toBe('<p>new Ada</p>')
      const missing = sent((one) => hello(one).templateFile(join(folder, 'no.html'), {}))
      await expect(missing).rejects.toMatchObject({
        code: 'MailTemplateError',
        message: expect.stringContaining('no.html'),
      })
      const pipe = sent((one) => hello(one).templateFile(makePipe(join(folder, 'pipe.html')), {}))
      await expect(pipe).rejects.toMatchObject({
        code: 'MailTemplateError',
        message: expect.stringMatching(/pipe\.html.*is a named pipe, not a file/),
      })
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  test.each([
    ['a mistake', (mail: MailBuilder) => mail.template('{{#open}}', {})],
    ['no data', (mail: MailBuilder) => mail.template('a', undefined as never)],
    ['no text', (mail: MailBuilder) => mail.template(5 as never, {})],
    ['no text for html', (mail: MailBuilder) => mail.html({ path: '/etc/passwd' } as never)],
  ])('with %s are an error', async (_what, fill) => {
    await expect(sent((one) => fill(hello(one)))).rejects.toMatchObject({ code: 'MailTemplateError' })
  })

  test.each([
    [new MustacheAdapter(), 'a\n\n{{#open}}', {}, 3],
    [new EdgeAdapter(), 'a\n{{ none.a }}', { name: 'a', URL: 'b' }, 2],
    [new EdgeAdapter(), 'a\n@if(', {}, 2],
  ])('with a mistake report the line', async (templateAdapter, template, data, line) => {
    const mailer = new Mailer({ main: { transporter: outbox, templateAdapter, from } }, { defaultProvider: 'main' })
    await expect(mailer.send((mail) => hello(mail).template(template, data))).rejects.toThrow(
      `the template, line ${line}, cannot be rendered: `,
    )
  })

  test('need an adapter', async () => {
    const mailer = new Mailer({ main: { transporter: outbox, from } }, { defaultProvider: 'main' })
    await expect(mailer.send((mail) => hello(mail).template('a', {}))).rejects.toThrow('needs a templateAdapter')
  })
})

describe('providers', () => {
  test('are chosen by name', async () => {
    const other = memoryTransport()
    const mailer = new Mailer(
      { main: { transporter: outbox, from }, other: { transporter: other, from: 'Other <other@example.org>' } },
      { defaultProvider: 'main' },
    )
    await mailer.use('other').send(hello)
    outbox.assertCount(0)
    other.assertSent({ from: 'other@example.org', to: 'ada@example.org' })
    expect(await mailer.verify()).toBe(true)
    expect(() => mailer.use('mian' as 'main')).toThrow(
      'there is no mail provider "mian". Did you mean "main"? Known providers: main, other',
    )
    expect(() => mailer.use('__proto__' as 'main')).toThrow(expect.objectContaining({ code: 'MailProviderError' }))
  })

  const provider = { transporter: memoryTransport(), from } as const
  test.each([
    ['no providers', {}, { defaultProvider: 'a' }],
    ['an unknown default', { a: provider }, { defaultProvider: 'toString' }],
    ['no default', { a: provider }, {}],
    ['a sender that is not an address', { a: { ...provider, from: 'shop' } }, { defaultProvider: 'a' }],
    ['no sender', { a: { transporter: provider.transporter } }, { defaultProvider: 'a' }],
    ['no transporter', { a: { from } }, { defaultProvider: 'a' }],
    ['a transporter of nothing', { a: { ...provider, transporter: {} } }, { defaultProvider: 'a' }],
    ['a transporter that goes nowhere', { a: { ...provider, transporter: { port: 25 } } }, { defaultProvider: 'a' }],
    ['a host that is not text', { a: { ...provider, transporter: { host: 127 } } }, { defaultProvider: 'a' }],
    ['a host of nothing', { a: { ...provider, transporter: { host: '' } } }, { defaultProvider: 'a' }],
    ['a port of text', { a: { ...provider, transporter: { host: 'a', port: 'x' } } }, { defaultProvider: 'a' }],
    ['an invalid port', { a: { ...provider, transporter: { host: 'a', port: 65_536 } } }, { defaultProvider: 'a' }],
    ['an adapter that renders nothing', { a: { ...provider, templateAdapter: {} } }, { defaultProvider: 'a' }],
    ['a misspelt option', { a: { ...provider, adapter: {} } }, { defaultProvider: 'a' }],
    ['a misspelt option of nodemailer', { a: { ...provider, transporter: { hots: 'a' } } }, { defaultProvider: 'a' }],
    [
      'a misspelt password',
      { a: { ...provider, transporter: { host: 'a', auth: { user: 'a', passw: 'b' } } } },
      { defaultProvider: 'a' },
    ],
    ['a time of nothing', { a: provider }, { defaultProvider: 'a', timeout: 0 }],
    ['no settings', { a: provider }, undefined],
    ['a name in place of settings', { a: provider }, 'a'],
  ])('%s is an error', (_what, providers, settings) => {
    expect(() => new Mailer(providers as never, settings as never)).toThrow(
      expect.objectContaining({ code: 'OptionError', message: expect.stringMatching(/^[^\n]*"?mailer/) }),
    )
  })

  test('everything that is wrong is in one error', () => {
    const providers = { a: { ...provider, from: 'shop' }, b: { from, transporter: { host: 'a', port: 0 } } }
    expect(() => new Mailer(providers as never, { defaultProvider: 5 as never })).toThrow(
      /^3 options are wrong:\n- mailer\.providers\.a\.from has an address that is not one plain address;.*\n- the option "mailer\.providers\.b\.transporter\.port" is 0;.*\n- the option "mailer\.defaultProvider" is 5/,
    )
  })

  test('options of nodemailer go through as they are', () => {
    const transporter = { service: 'Gmail', auth: { type: 'OAuth2', user: 'a', accessToken: 'b' }, tls: {}, name: 'c' }
    const given = { providers: { a: { transporter, from } }, defaultProvider: 'a' }
    expect(mailerOptions.parse(given, 'mailer').providers.a!.transporter).toEqual(transporter)
  })

  test.each([
    'imap://me:hunter2@a.test',
    'smtp://me:hunter2@[::1',
    'smtp://me:hunter2@a.test:99999',
    'smtp://me:hunter2@a b:25',
    'smtp://',
    'direct:smtp://me:hunter2@a.test',
  ])('the address %s is invalid, and its password is not shown', (transporter) => {
    for (const given of [transporter, { url: transporter }]) {
      const make = () => new Mailer({ a: { transporter: given, from } }, { defaultProvider: 'a' })
      expect(make).toThrow(/^the option "mailer.providers.a.transporter(.url)?" is (?!.*hunter2)/)
    }
  })

  test.each([
    ['a service that nodemailer does not know', { service: 'nope' }],
    ['a way of its own without its parts', { SES: {} }],
  ])('%s is reported with the first email', async (_what, transporter) => {
    const mailer = new Mailer({ a: { transporter, from } }, { defaultProvider: 'a' })
    await expect(mailer.send(hello)).rejects.toThrow(/^the provider "a" cannot be made: /)
  })
})

test.each([
  ['memoryTransport()', memoryTransport()],
  ['jsonTransport', { jsonTransport: true }],
  ['streamTransport', { streamTransport: true }],
])('%s, which sends nothing, is refused in production', (_name, transporter) => {
  vi.stubEnv('NODE_ENV', 'production')
  try {
    expect(() => new Mailer({ main: { transporter, from } }, { defaultProvider: 'main' })).toThrow(
      'main.transporter would keep emails in this process and report them as sent: NODE_ENV=production needs a server, "smtp://…"',
    )
  } finally {
    vi.unstubAllEnvs()
  }
})

describe('the memory transport', () => {
  test('asserts', async () => {
    await makeMailer().send((mail) => hello(mail).text('one\ntwo'))
    outbox.assertSent({}).assertSent({ to: 'ada@example.org', from, subject: 'Hello', text: /two$/ }).assertCount(1)
    outbox.assertNotSent({ subject: /^hello/ }).assertNotSent({ html: /./ })
    const failures = [
      () => outbox.assertSent({ to: 'eve@example.org' }),
      () => outbox.assertNotSent(),
      () => outbox.assertNotSent({ text: /one/ }),
      () => outbox.assertCount(2),
    ]
    for (const fail of failures) expect(fail).toThrow(expect.objectContaining({ code: 'ERR_ASSERTION' }))
    expect(() => outbox.assertSent({ subject: 'Bye' })).toThrow(
      expect.objectContaining({
        actual: [expect.objectContaining({ subject: 'Hello' })],
        expected: { subject: 'Bye' },
      }),
    )
    for (const assert of ['assertSent', 'assertNotSent'] as const) {
      const misspelt = { subjct: 'Hello' } as {}
      expect(() => outbox[assert](misspelt)).toThrow(expect.objectContaining({ code: 'OptionError' }))
      expect(() => outbox[assert]({ subject: 1 } as {})).toThrow(`the option "${assert}.subject" is 1`)
    }
    expect(() => outbox.assertSent(undefined as never)).toThrow('the option "assertSent" is missing')
    expect(outbox.clear().sent).toEqual([])
  })

  test('fails on demand, and keeps the last 1000', async () => {
    const mailer = makeMailer()
    outbox.failNext()
    await expect(mailer.send(hello)).rejects.toMatchObject({ code: 'MailSendError', cause: expect.any(Error) })
    for (let i = 0; i < 1005; i++) await mailer.send((mail) => hello(mail).subject(`${i}`))
    expect([outbox.sent.length, outbox.sent[0]!.subject]).toEqual([1000, '5'])
  })
})
