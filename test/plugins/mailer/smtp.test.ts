import { createServer, type Server as NetServer, type Socket } from 'node:net'
import { inspect } from 'node:util'
import { type MailBuilder, Mailer, type MailProvider } from 'framework'
import { createTransport } from 'nodemailer'
import PostalMime from 'postal-mime'
import type { SMTPServerOptions } from 'smtp-server'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { certificate } from '../../kernel/runtime/certificate.ts'
import { memoryLogger } from '../../support/kernel.ts'
import { type SmtpServer, startSmtp } from '../../support/smtp.ts'

const from = 'Shop <shop@example.org>'
const stops: (() => Promise<unknown> | void)[] = []
afterEach(async () => {
  vi.useRealTimers()
  for (const stop of stops.splice(0)) await stop()
})

async function smtp(...args: Parameters<typeof startSmtp>): Promise<SmtpServer> {
  const server = await startSmtp(...args)
  stops.push(() => server.stop())
  return server
}

function mailerTo(transporter: MailProvider['transporter'], timeout = 5000): Mailer {
  const mailer = new Mailer({ main: { transporter, from } }, { defaultProvider: 'main', timeout })
  stops.push(() => mailer.close({ timeout: 100 }))
  return mailer
}
const hello = (mail: MailBuilder) => mail.to('ada@example.org').subject('Hello').text('Hello Ada')

/** A server that treats each connection as a test wants. */
async function tcp(onConnection: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>()
  const server: NetServer = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    onConnection(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
  stops.push(() => {
    for (const socket of sockets) socket.destroy()
    return new Promise<void>((resolve) => server.close(() => resolve()))
  })
  return (server.address() as { port: number }).port
}

describe('over a real SMTP server', () => {
  test('a whole mail arrives, and hidden recipients stay hidden', async () => {
    const server = await smtp()
    const receipt = await mailerTo({ host: '127.0.0.1', port: server.port }).send((mail) =>
      mail
        .to([{ name: 'Ada: "L", Ü <x@y.z>', address: 'ada@example.org' }, 'bob@example.org'])
        .cc('cleo@example.org')
        .bcc('dan@example.org')
        .replyTo('answers@example.org')
        .subject('Grüße 🎉')
        .text('plain')
        .html('<p>ü <img src="cid:dot"></p>')
        .headers({ 'X-Campaign': 'spring' })
        .priority('high')
        .attachment({ filename: 'ü.bin', content: new Uint8Array([0, 1, 255]), cid: 'dot' }),
    )
    const [mail] = server.received
    expect(mail).toMatchObject({ from: 'shop@example.org' })
    const everyone = ['ada', 'bob', 'cleo', 'dan'].map((name) => `${name}@example.org`)
    expect(mail!.to).toEqual(everyone)
    expect(receipt).toMatchObject({ accepted: everyone, rejected: [] })
    expect(mail!.raw).not.toContain('dan@')
    const parsed = await PostalMime.parse(mail!.raw)
    expect(parsed).toMatchObject({
      messageId: receipt.id,
      from: { name: 'Shop', address: 'shop@example.org' },
      to: [{ name: 'Ada: "L", Ü <x@y.z>', address: 'ada@example.org' }, { address: 'bob@example.org' }],
      cc: [{ address: 'cleo@example.org' }],
      replyTo: [{ address: 'answers@example.org' }],
      subject: 'Grüße 🎉',
      text: 'plain\n',
    })
    expect(parsed.html).toContain('<p>ü <img src="cid:dot"></p>')
    expect(parsed.headers).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ key: 'x-campaign', value: 'spring' }),
        expect.objectContaining({ key: 'x-priority', value: expect.stringContaining('1') }),
      ]),
    )
    expect(
      parsed.attachments.map(({ filename, content }) => [filename, [...new Uint8Array(content as ArrayBuffer)]]),
    ).toEqual([['ü.bin', [0, 1, 255]]])
  })

  test('dots, long lines and endings of all kinds arrive as they were', async () => {
    const server = await smtp()
    const mailer = mailerTo(`smtp://127.0.0.1:${server.port}`)
    const text = ['.', '..', 'From here', 'x'.repeat(2000), '', 'QUIT', '.', 'RCPT TO:<eve@example.org>', 'end'].join(
      '\r\n',
    )
    await mailer.send((mail) => hello(mail).text(text))
    const { text: arrived } = await PostalMime.parse(server.received[0]!.raw)
    expect(arrived?.replace(/\r?\n/g, '\r\n').trimEnd()).toBe(text)
    expect(server.received[0]!.to).toEqual(['ada@example.org'])
  })

  test('a recipient that is refused among others is reported', async () => {
    const server = await smtp({
      onRcptTo: ({ address }, _session, done) =>
        done(address.startsWith('eve') ? new Error('no such user') : undefined),
    })
    const mailer = mailerTo({ host: '127.0.0.1', port: server.port })
    expect(await mailer.send((mail) => hello(mail).cc('eve@example.org'))).toMatchObject({
      accepted: ['ada@example.org'],
      rejected: ['eve@example.org'],
    })
    await expect(mailer.send((mail) => mail.to('eve@example.org').subject('a'))).rejects.toMatchObject({
      code: 'MailSendError',
      message: expect.stringContaining('no such user'),
    })
  })

  test('a transporter of nodemailer may be given, and stays open', async () => {
    const server = await smtp()
    const transporter = createTransport({ host: '127.0.0.1', port: server.port, pool: true })
    const mailer = new Mailer({ main: { transporter, from } }, { defaultProvider: 'main' })
    await mailer.send(hello)
    await mailer.close()
    await transporter.sendMail({ from: 'a@example.org', to: 'b@example.org', text: 'own' })
    transporter.close()
    expect(server.received.map((mail) => mail.from)).toEqual(['shop@example.org', 'a@example.org'])
  })

  test('many are sent at once, and no warning of a leak is printed', async () => {
    const server = await smtp()
    const warnings: Error[] = []
    const note = (warning: Error) => void warnings.push(warning)
    process.on('warning', note)
    const mailer = mailerTo({ host: '127.0.0.1', port: server.port })
    await Promise.all(Array.from({ length: 30 }, () => mailer.send(hello)))
    // Warnings are emitted in a later turn.
    await new Promise((resolve) => setImmediate(resolve))
    process.off('warning', note)
    expect([server.received.length, warnings]).toEqual([30, []])
  })

  test('verify reports whether it can be reached', async () => {
    const server = await smtp()
    const mailer = mailerTo({ host: '127.0.0.1', port: server.port })
    expect(await mailer.verify()).toBe(true)
    await server.stop()
    await expect(mailer.verify()).rejects.toMatchObject({
      code: 'MailSendError',
      message: expect.stringContaining('ECONNREFUSED'),
    })
  })
})

test('emails of later survive a server that goes away and comes back', async () => {
  const first = await smtp()
  const mailer = mailerTo({ host: '127.0.0.1', port: first.port })
  const log = memoryLogger()
  mailer.mount({}, log)
  for (const subject of ['a', 'b', 'c']) await mailer.later((mail) => hello(mail).subject(subject))
  await expect.poll(() => first.received.length).toBe(1)
  await first.stop()
  // Until one attempt has failed.
  await expect.poll(() => log.entries.length).toBe(1)
  const second = await smtp({}, first.port)
  await expect.poll(() => second.received.length).toBe(2)
  const subjects = second.received.map(({ raw }) => /^Subject: (.*)\r$/m.exec(raw)?.[1])
  expect(subjects.sort()).toEqual(['b', 'c'])
  await expect.poll(() => mailer.waiting).toBe(0)
})

describe('TLS and passwords', () => {
  const auth = { user: 'shop', pass: 'hunter2' }
  const secured = (): SMTPServerOptions => ({
    ...certificate,
    disabledCommands: [],
    authOptional: false,
    onAuth({ username, password }, _session, done) {
      if (username === auth.user && password === auth.pass) done(null, { user: auth.user })
      else done(new Error('wrong'))
    },
  })

  test('STARTTLS, and TLS from the start', async () => {
    const tls = { ca: certificate.cert, servername: 'localhost' }
    const starttls = await smtp(secured())
    await mailerTo({ host: '127.0.0.1', port: starttls.port, requireTLS: true, auth, tls }).send(hello)
    expect(starttls.received).toMatchObject([{ secure: true, user: 'shop' }])
    const direct = await smtp({ ...secured(), secure: true })
    await mailerTo({ host: '127.0.0.1', port: direct.port, secure: true, auth, tls }).send(hello)
    expect(direct.received).toMatchObject([{ secure: true, user: 'shop' }])
  })

  test('a certificate that no one vouches for is refused, and so is a server without TLS where it is required', async () => {
    const server = await smtp(secured())
    await expect(mailerTo({ host: '127.0.0.1', port: server.port, auth }).send(hello)).rejects.toMatchObject({
      code: 'MailSendError',
      message: expect.stringMatching(/certificate/),
    })
    const plain = await smtp()
    const strict = mailerTo({ host: '127.0.0.1', port: plain.port, requireTLS: true })
    await expect(strict.send(hello)).rejects.toMatchObject({ code: 'MailSendError' })
    expect([...server.received, ...plain.received]).toEqual([])
  })

  test('a wrong password is reported without the password', async () => {
    const server = await smtp(secured())
    const tls = { ca: certificate.cert, servername: 'localhost' }
    const mailer = mailerTo({ host: '127.0.0.1', port: server.port, tls, auth: { user: 'shop', pass: 'hunter3' } })
    const error = await mailer.send(hello).catch((thrown: Error) => thrown)
    expect(error).toMatchObject({ code: 'MailSendError', cause: { responseCode: 535 } })
    expect(String((error as Error).message)).not.toContain('hunter3')
  })
})

describe('a server that does not do its part', () => {
  const failureOf = async (mailer: Mailer): Promise<string> => {
    const error = await mailer.send(hello).then(
      () => new Error('it was sent'),
      (thrown: Error) => thrown,
    )
    expect(error).toMatchObject({ code: 'MailSendError' })
    return error.message
  }
  const options = (port: number) => ({ host: '127.0.0.1', port })

  test('is not there', async () => {
    const port = await tcp(() => {})
    await stops.pop()!()
    expect(await failureOf(mailerTo(options(port)))).toContain('ECONNREFUSED')
  })

  test('is silent from the start: the default time is below ten seconds', async () => {
    let connect = () => {}
    const connected = new Promise<void>((resolve) => {
      connect = resolve
    })
    const port = await tcp(() => connect())
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const mailer = new Mailer({ main: { transporter: options(port), from } }, { defaultProvider: 'main' })
    const sent = mailer.send(hello)
    sent.catch(() => {})
    await connected
    await vi.advanceTimersByTimeAsync(8000)
    await expect(Promise.race([sent, 'waiting'])).resolves.toBe('waiting')
    await vi.advanceTimersByTimeAsync(1999)
    await expect(sent).rejects.toThrow(/Greeting never received|no response within 9000 ms/)
    await mailer.close()
  })

  test.each([
    ['greets, and then is silent', (socket: Socket) => void socket.write('220 a ESMTP\r\n')],
    [
      'sends a byte now and then',
      (socket: Socket) => {
        socket.write('220 a ESMTP\r\n')
        const timer = setInterval(() => socket.write('2'), 100)
        socket.on('close', () => clearInterval(timer))
      },
    ],
  ])('%s', async (_what, onConnection) => {
    let closed = false
    const port = await tcp((socket) => {
      socket.on('close', () => {
        closed = true
      })
      socket.resume()
      onConnection(socket)
    })
    await failureOf(mailerTo(options(port), 500))
    await expect.poll(() => closed).toBe(true)
  })

  test('says 421, 4xx or 5xx', async () => {
    const busy = await tcp((socket) => void socket.end('421 too busy\r\n'))
    expect(await failureOf(mailerTo(options(busy)))).toContain('421')
    for (const code of [451, 550]) {
      const server = await smtp({
        onMailFrom: (_address, _session, done) => done(Object.assign(new Error('not now'), { responseCode: code })),
      })
      expect(await failureOf(mailerTo(options(server.port)))).toContain(`${code} not now`)
    }
  })

  test('repeats the password: no error has it', async () => {
    const port = await tcp((socket) => {
      socket.write('220 a ESMTP\r\n')
      socket.on('data', (data) => {
        const line = data.toString().trim()
        if (line.startsWith('EHLO')) socket.write('250-a\r\n250 AUTH PLAIN\r\n')
        else socket.write(`535 no: ${line} is hunter22\r\n`)
      })
    })
    const auth = { user: 'shop', pass: 'hunter22' }
    const secrets = ['hunter22', Buffer.from('\0shop\0hunter22').toString('base64')]
    const given = createTransport({ ...options(port), auth })
    for (const transporter of [{ ...options(port), auth }, `smtp://shop:hunter22@127.0.0.1:${port}`, given]) {
      const error = await mailerTo(transporter)
        .send(hello)
        .catch((thrown: unknown) => thrown)
      expect(error).toMatchObject({ code: 'MailSendError', cause: { code: 'EAUTH', responseCode: 535 } })
      expect((error as Error).message).toContain('535 no: AUTH PLAIN … is …')
      for (const secret of secrets) expect(inspect(error, { depth: 9 })).not.toContain(secret)
    }
  })

  test('dies in the middle of an email', async () => {
    const port = await tcp((socket) => {
      socket.write('220 a ESMTP\r\n')
      socket.on('data', (data) => {
        const line = data.toString()
        if (line.startsWith('DATA')) socket.write('354 go on\r\n', () => setTimeout(() => socket.resetAndDestroy(), 20))
        else if (/^(EHLO|MAIL|RCPT)/.test(line)) socket.write('250 ok\r\n')
      })
    })
    await failureOf(mailerTo(options(port)))
  })

  test('sends without an end', async () => {
    const port = await tcp((socket) => {
      socket.write('220 a ESMTP\r\n')
      const block = 'x'.repeat(65_536)
      const more = () => {
        while (!socket.destroyed && socket.write(block));
      }
      socket.on('drain', more)
      more()
    })
    await failureOf(mailerTo(options(port), 1000))
  })
})
