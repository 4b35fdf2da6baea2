import { ownCommand } from '../run/own-command.ts'
import { required, type Variable } from '../scaffold/environment/variables.ts'
import { importPath, inFolder } from '../scaffold/place.ts'
import { generateFlags, scaffoldOneOf } from '../scaffold/scaffold.ts'
import { moduleAndTest } from '../scaffold/source.ts'
import { fromTemplate } from '../scaffold/template.ts'

interface Engine {
  readonly adapter?: string
  readonly packages: readonly string[]
  /** The ending of a template, and how it contains the variable `name`. */
  readonly template?: readonly [ending: string, variable: string]
}

type MailKind = 'handlebars' | 'ejs' | 'edge' | 'mustache' | 'custom' | 'none'

const engines: Readonly<Record<MailKind, Engine>> = {
  handlebars: { adapter: 'HandlebarsAdapter', packages: ['handlebars'], template: ['hbs', '{{name}}'] },
  ejs: { adapter: 'EjsAdapter', packages: ['ejs'], template: ['ejs', '<%= name %>'] },
  edge: { adapter: 'EdgeAdapter', packages: ['edge.js'], template: ['edge', '{{ name }}'] },
  mustache: { adapter: 'MustacheAdapter', packages: ['mustache'], template: ['mustache', '{{name}}'] },
  custom: { adapter: 'CustomAdapter', packages: [], template: ['tpl', '{{name}}'] },
  none: { packages: [] },
}

const mailKinds = Object.keys(engines) as [MailKind, ...MailKind[]]

const about = 'With NODE_ENV=production it is needed; elsewhere emails stay in memory without it.'

const smtpUrl: Variable = {
  name: 'SMTP_URL',
  type: "string({ optional: process.env.NODE_ENV !== 'production', secret: true })",
  about,
  example: 'smtp://user:password@host:587',
}

export const initMailer = ownCommand({
  details: `Writes src/mailer.ts: the options of the mailer and an email; its template; and a test that sends the email in memory. Without
--type the command asks for it.`,
  flags: {
    type: { type: 'string', short: 't', value: mailKinds.join('|'), description: 'The template engine' },
    ...generateFlags,
  },
  run: (input) =>
    scaffoldOneOf(input, mailKinds, '', (place, kind) => {
      const { adapter, packages, template: [ending, variable] = [] } = engines[kind]
      // Next to the module: a build includes the files among the sources.
      const template = ending && inFolder(place, `templates/welcome.${ending}`)
      const values = { adapter, template, variable, isCustom: kind === 'custom' }
      return {
        files: [
          ...moduleAndTest(place, 'mailer', 'mailer', values),
          ...(template === undefined ? [] : [{ path: template, text: fromTemplate('mailer.html', values) }]),
        ],
        packages: ['nodemailer', ...packages],
        next: [
          `In ${place.server}:`,
          `  import { mailOptions } from '${importPath(place, inFolder(place, 'mailer.ts'))}'`,
          `  new Server({ plugins: { mailer: mailOptions() } })`,
          `In a handler: await req.server.services.get('mailer').send(welcome('ada@example.org', 'Ada'))`,
          `SMTP_URL is the email server. ${about}`,
          ...(template === undefined
            ? []
            : [
                `${template} is read relative to the folder in which the process runs; a build has a copy of it, which it then reads.`,
              ]),
        ],
        variables: [smtpUrl, required('MAIL_FROM', 'shop@example.org')],
      }
    }),
})
