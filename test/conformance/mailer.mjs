import {
  CustomAdapter,
  EdgeAdapter,
  EjsAdapter,
  HandlebarsAdapter,
  Mailer,
  MustacheAdapter,
  RouteCollection,
  Server,
} from 'framework'

/**
 * The mailer on whichever runtime runs this. Returns what it saw.
 *
 * @param {string} [working] The port of a server that works.
 * @param {string} [secured] Of one that wants TLS and a password.
 * @param {string} [silent] Of one that never says anything.
 * @param {string} [ca]
 */
export async function run(working, secured, silent, ca) {
  const quiet = () => {}
  /** @type {any} */
  const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet, child: () => logger }
  const host = '127.0.0.1'
  const from = 'Shop <shop@example.org>'

  const engines = {
    mustache: [new MustacheAdapter(), '{{name}}'],
    handlebars: [new HandlebarsAdapter(), '{{name}}'],
    ejs: [new EjsAdapter(), '<%= name %>'],
    edge: [new EdgeAdapter(), '{{ name }}'],
    custom: [new CustomAdapter((template) => template), 'name'],
  }
  /** @type {Record<string, import('framework').MailProvider>} */
  const providers = {}
  for (const [name, [templateAdapter]] of Object.entries(engines)) {
    providers[name] = { transporter: { host, port: Number(working) }, templateAdapter, from }
  }
  const tls = { ca, servername: 'localhost' }
  const auth = { user: 'shop', pass: 'hunter2' }
  const mailer = new Mailer(
    {
      ...providers,
      secured: { transporter: { host, port: Number(secured), requireTLS: true, auth, tls }, from },
    },
    { defaultProvider: 'mustache' },
  )
  const started = performance.now()
  const dead = new Mailer(
    { silent: { transporter: `smtp://${host}:${silent}`, from } },
    { defaultProvider: 'silent', timeout: 300 },
  )
    .send((mail) => mail.to('ada@example.org').subject('silent'))
    .catch((error) => ({ dead: error.code, inTime: performance.now() - started < 25_000 }))

  for (const [name, [, template]] of Object.entries(engines)) {
    await mailer
      .use(name)
      .send((mail) =>
        mail.to('ada@example.org').subject(`${name} ${template}`).template(`<p>${template}</p>`, { name: 'A&B' }),
      )
  }
  await mailer.use('secured').send((mail) => mail.to('ada@example.org').subject('secured'))
  const forged = await mailer
    .send((mail) => mail.to('a@b.c\r\nBcc: eve@example.org').subject('a'))
    .catch((error) => error.code)
  await mailer.close()

  const server = new Server({
    port: 0,
    host,
    drainWindow: 0,
    logger,
    router: new RouteCollection(),
    plugins: { mailer: { providers, defaultProvider: 'custom' } },
  })
  await server.listen()
  for (const subject of ['one', 'two', 'three']) {
    await server.services.get('mailer').later((mail) => mail.to('bob@example.org').subject(subject).text('later'))
  }
  await server.close()
  return { ...(await dead), forged }
}
