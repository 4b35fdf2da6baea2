import { type AddressInfo, createServer, type Server } from 'node:net'
import PostalMime from 'postal-mime'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { certificate } from '../kernel/runtime/certificate.ts'
import { type SmtpServer, startSmtp } from '../support/smtp.ts'
import { resultOf, runtimeKinds } from './targets.ts'

let working: SmtpServer
let secured: SmtpServer
let silent: Server

beforeAll(async () => {
  working = await startSmtp()
  secured = await startSmtp({
    ...certificate,
    disabledCommands: [],
    authOptional: false,
    onAuth: ({ username, password }, _session, done) =>
      password === 'hunter2' ? done(null, { user: username ?? '' }) : done(new Error('wrong')),
  })
  silent = createServer((socket) => socket.on('error', () => {}))
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', () => resolve()))
})
afterAll(async () => {
  await Promise.all([working.stop(), secured.stop(), new Promise((resolve) => silent.close(resolve))])
})

test.each(
  runtimeKinds.filter(({ adapter }) => adapter === undefined).map((target) => [target.name, target] as const),
)('the mailer on %s', async (_name, target) => {
  working.received.length = 0
  secured.received.length = 0
  const ports = [working.port, secured.port, (silent.address() as AddressInfo).port].map(String)
  expect(await resultOf(target, 'mailer.mjs', [...ports, certificate.cert])).toEqual({
    dead: 'MailSendError',
    inTime: true,
    forged: 'MailAddressError',
  })
  const emails = await Promise.all(working.received.map(({ raw }) => PostalMime.parse(raw)))
  expect(emails.map(({ subject, html, text }) => [subject, (html ?? text)?.trim()])).toEqual([
    ...['mustache', 'handlebars', 'ejs', 'edge'].map((name) => [`${name} A&B`, '<p>A&amp;B</p>']),
    ['custom name', '<p>name</p>'],
    ...['one', 'two', 'three'].map((subject) => [subject, 'later']),
  ])
  expect(secured.received).toMatchObject([{ secure: true, user: 'shop', to: ['ada@example.org'] }])
})
