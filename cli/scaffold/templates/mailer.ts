import { packageName } from '../../package.ts'
import { required, type Variable } from '../environment/variables.ts'
import { envImport, importPath, inFolder, type Place } from '../place.ts'
import type { Scaffold } from '../scaffold.ts'
import { imports, named } from '../source.ts'

interface Adapter {
  /** The expression that makes it. */
  readonly made?: string
  readonly imported?: string
  readonly packages: readonly string[]
  /** The template of the example, by the ending of its file. */
  readonly file?: readonly [ending: string, name: (variable: string) => string]
}

const braces = (variable: string) => `{{${variable}}}`

const adapters = {
  handlebars: {
    made: 'new HandlebarsAdapter()',
    imported: 'HandlebarsAdapter',
    packages: ['handlebars'],
    file: ['hbs', braces],
  },
  ejs: {
    made: 'new EjsAdapter()',
    imported: 'EjsAdapter',
    packages: ['ejs'],
    file: ['ejs', (variable) => `<%= ${variable} %>`],
  },
  edge: {
    made: 'new EdgeAdapter()',
    imported: 'EdgeAdapter',
    packages: ['edge.js'],
    file: ['edge', (variable) => `{{ ${variable} }}`],
  },
  mustache: {
    made: 'new MustacheAdapter()',
    imported: 'MustacheAdapter',
    packages: ['mustache'],
    file: ['mustache', braces],
  },
  custom: { made: 'new CustomAdapter(render)', imported: 'CustomAdapter', packages: [], file: ['tpl', braces] },
  none: { packages: [] },
} as const satisfies Readonly<Record<string, Adapter>>

export type MailKind = keyof typeof adapters
export const mailKinds = Object.keys(adapters) as [MailKind, ...MailKind[]]

const about = 'With NODE_ENV=production it is needed; elsewhere mails stay in memory without it.'

const smtpUrl: Variable = {
  name: 'SMTP_URL',
  type: "string({ optional: process.env.NODE_ENV !== 'production', secret: true })",
  about,
  example: 'smtp://user:password@host:587',
}

/** The module that sends the mails of an application, with the first mail. */
export function mailer(place: Place, kind: MailKind): Scaffold {
  const adapter: Adapter = adapters[kind]
  const file = inFolder(place, 'mailer.ts')
  // Next to the module: a build includes the files among the sources.
  const template = adapter.file === undefined ? undefined : inFolder(place, `templates/welcome.${adapter.file[0]}`)
  return {
    files: [
      { path: file, text: source(adapter, template, { isCustom: kind === 'custom', env: envImport(place, file) }) },
      {
        path: file.replace(/\.ts$/, '.test.ts'),
        text: test(place.testModule, template === undefined ? 'text' : 'html'),
      },
      ...(template === undefined ? [] : [{ path: template, text: html(adapter.file![1]) }]),
    ],
    packages: ['nodemailer', ...adapter.packages],
    next: [
      `In ${place.server}:`,
      `  import { mailOptions } from '${importPath(place, file)}'`,
      `  new Server({ plugins: { mailer: mailOptions() } })`,
      `In a handler: await req.server.services.get('mailer').send(welcome('ada@example.org', 'Ada'))`,
      `SMTP_URL is the mail server. ${about}`,
      ...(template === undefined
        ? []
        : [
            `${template} is read relative to the folder in which the process runs; a build has a copy of it, which it then reads.`,
          ]),
    ],
    variables: [smtpUrl, required('MAIL_FROM', 'shop@example.org')],
  }
}

function source(
  adapter: Adapter,
  template: string | undefined,
  { isCustom, env }: { readonly isCustom: boolean; readonly env: ReturnType<typeof envImport> },
): string {
  const own = adapter.imported === undefined ? [] : [adapter.imported]
  const types = ['MailCallback', 'MailerOptions', 'MailTransporter'].map((name) => `type ${name}`)
  const body =
    template === undefined
      ? `.text(\`Hello \${name}, it is good that you are here.\`)`
      : `.templateFile('${template}', { name })`
  const line = adapter.made === undefined ? '' : `        templateAdapter: ${adapter.made},\n`
  return `${imports([packageName, named(...own, ...types, 'logger', 'memoryTransport')], env)}
${isCustom ? custom : ''}
/** Sends by SMTP_URL, which production requires. In tests, or without the variable, emails stay in the memory of this process. */
function transport(): string | MailTransporter {
  if (process.env.NODE_ENV === 'test') return memoryTransport()
  const url = env.get('SMTP_URL')
  if (url !== undefined) return url
  logger.warn('SMTP_URL is missing: mails stay in memory')
  return memoryTransport()
}

/** The options of the mailer plugin. */
export function mailOptions(transporter = transport()): MailerOptions {
  return {
    providers: {
      main: {
        transporter,
${line}        from: { name: 'Shop', address: env.get('MAIL_FROM') },
      },
    },
    defaultProvider: 'main',
  }
}

/** An email for \`send\` and \`later\` of the mailer. */
export function welcome(to: string, name: string): MailCallback {
  return (mail) => mail.to(to).subject('Welcome')${body}
}
`
}

const custom = `
/** Fills in \`{{name}}\`, escaped in HTML. Replace this with your own engine. */
function render(template: string, data: object, kind: 'html' | 'text'): string {
  const values = new Map<string, unknown>(Object.entries(data))
  return template.replaceAll(/\\{\\{(\\w+)\\}\\}/g, (_all, name: string) => {
    const value = String(values.get(name) ?? '')
    return kind === 'html' ? value.replaceAll(/[&<>"']/g, (character) => \`&#\${character.charCodeAt(0)};\`) : value
  })
}
`

const html = (variable: (name: string) => string) => `<p>Hello ${variable('name')},</p>
<p>it is good that you are here.</p>
`

const test = (module: string, body: 'html' | 'text') => `${imports(
  [module, '{ test }'],
  [packageName, '{ memoryTransport, Server }'],
  ['./mailer.ts', '{ mailOptions, welcome }'],
)}

test('a new user is welcomed', async () => {
  const outbox = memoryTransport()
  const server = new Server({ plugins: { mailer: mailOptions(outbox) } })
  await server.services.get('mailer').send(welcome('ada@example.org', 'Ada'))

  outbox.assertSent({ to: 'ada@example.org', subject: 'Welcome', ${body}: /Hello Ada/ }).assertCount(1)
  await server.close()
})
`
