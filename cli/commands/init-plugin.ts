import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join, posix } from 'node:path'
import { CommandFailure, oneOf } from '../failure.ts'
import { programName } from '../package.ts'
import { commandLineOf } from '../project/project.ts'
import { ownCommand, text } from '../run/own-command.ts'
import { databaseKinds, databases } from '../scaffold/databases.ts'
import { awsVariables, optional, required, requiredSecret, type Variable } from '../scaffold/environment/variables.ts'
import { importPath, inFolder, type Place, pathBetween } from '../scaffold/place.ts'
import { queueKinds, queues } from '../scaffold/queue-kinds.ts'
import {
  fromTemplates,
  generateFlags,
  type Scaffold,
  scaffold,
  scaffoldOneOf,
  sourceFrom,
} from '../scaffold/scaffold.ts'
import { fromTemplate } from '../scaffold/template.ts'

const withKind = (kinds: readonly string[], description: string) =>
  ({
    type: text(kinds.join('|'), description, { short: 't' }),
    ...generateFlags,
  }) as const

/** The conditions of a template, for each kind whether it is this one, and what reads the credentials of AWS. */
const valuesOf = (kind: string, kinds: readonly string[]) => ({
  ...Object.fromEntries(kinds.map((one) => [one, one === kind])),
  aws: fromTemplate('aws.ts').trimEnd(),
})

export const initQueue = ownCommand({
  details: `Writes src/queues/config.ts, with the engine for the queues that the code makes with queue(), its connection (from .env or
the environment), and a handler for failed attempts. Without --type, the command asks for the engine.`,
  flags: withKind(queueKinds, 'The engine of the queues'),
  run: (input) =>
    scaffoldOneOf(input, queueKinds, 'queues', (place, kind) => ({
      ...fromTemplates(place, 'queue-config', 'config', { ...valuesOf(kind, queueKinds), kind }),
      ...queues[kind],
    })),
})

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

function mailerIn(place: Place, kind: MailKind): Scaffold {
  const { adapter, packages, template: [ending, variable] = [] } = engines[kind]
  // Next to the module: a build includes the files among the sources.
  const template = ending && inFolder(place, `templates/welcome.${ending}`)
  const values = { adapter, template, variable, about, isCustom: kind === 'custom' }
  const { files, next } = fromTemplates(place, 'mailer', 'mailer', values)
  return {
    files: template === undefined ? files : [...files, { path: template, text: fromTemplate('mailer.html', values) }],
    next,
    packages: ['nodemailer', ...packages],
    variables: [smtpUrl, required('MAIL_FROM', 'shop@example.org')],
  }
}

export const initMailer = ownCommand({
  details: `Writes src/mailer.ts, with the options of the mailer and an email, a template for the email, and a test that sends it in
memory. Without --type, the command asks for the template engine.`,
  flags: withKind(mailKinds, 'The template engine'),
  run: (input) => scaffoldOneOf(input, mailKinds, '', mailerIn),
})

const providers = {
  s3: {
    provider: 'S3StorageProvider',
    packages: ['@aws-sdk/client-s3', '@aws-sdk/lib-storage', '@aws-sdk/s3-request-presigner'],
    // The endpoint is only for services other than AWS.
    variables: [required('S3_BUCKET', 'shop'), optional('S3_ENDPOINT', 'http://127.0.0.1:9000'), ...awsVariables],
  },
  azure: {
    provider: 'AzureBlobStorageProvider',
    packages: ['@azure/storage-blob'],
    // The connection string is that of the emulator, Azurite.
    variables: [
      required('AZURE_STORAGE_CONTAINER', 'shop'),
      requiredSecret('AZURE_STORAGE_CONNECTION_STRING', 'UseDevelopmentStorage=true'),
    ],
  },
  local: {
    provider: 'LocalStorageProvider',
    packages: [],
    // Objects must not be committed.
    ignored: ['/storage/'],
    variables: [
      required('STORAGE_ROOT', 'storage'),
      {
        ...requiredSecret('STORAGE_SECRET', '', randomBytes(24).toString('base64url')),
        test: 'a secret that only tests know',
      },
    ],
  },
}

type StorageKind = keyof typeof providers
const storageKinds = Object.keys(providers) as [StorageKind, ...StorageKind[]]

export const initStorage = ownCommand({
  details: `Writes src/storage.ts, which configures the provider from .env or the environment, and a test. Without --type, the command asks
for the provider.`,
  flags: withKind(storageKinds, 'The provider of the storage'),
  run: (input) =>
    scaffoldOneOf(input, storageKinds, '', (place, kind) => {
      const { provider, ...needs } = providers[kind]
      return { ...needs, ...fromTemplates(place, 'storage', 'storage', { ...valuesOf(kind, storageKinds), provider }) }
    }),
})

export const initDatabase = ownCommand({
  details: `Writes src/database.ts, with the options of the database and a first migration, and a test that uses a database of its own.
The address comes from .env or the environment. Without --type, the command asks which database to use.`,
  flags: withKind(databaseKinds, 'The kind of database'),
  run: (input) =>
    scaffoldOneOf(input, databaseKinds, '', (place, kind) => {
      const { url, test, ...needs } = databases[kind]
      const variables = [{ ...requiredSecret('DATABASE_URL', url), ...(test !== undefined && { test }) }]
      return { ...needs, ...fromTemplates(place, 'database', 'database', valuesOf(kind, databaseKinds)), variables }
    }),
})

const accountKinds = ['database', 'memory'] as const
const accountPages = ['frame', 'forgot-password', 'choose-password', 'ended', 'message']
const accountFiles = ['accounts.ts', 'pages.ts', ...accountPages.map((name) => `pages/${name}.html`)]

export const initAuth = ownCommand({
  details: `Writes src/auth/ with routes to sign up, log in, refresh, log out and reset a password by email, the pages for a forgotten password,
a store for the accounts, and a test. It also writes the mailer if there is none. The store uses the database of src/database.ts, if there is one.
Otherwise it keeps the accounts in memory, and refuses to run in production.`,
  flags: withKind(accountKinds, 'Where to keep the accounts (default: the database, if there is one)'),
  run: (input) => scaffold(input, 'auth', (place) => authIn(place, input.flags.type)),
})

function authIn(place: Place, typed: string | undefined): Scaffold {
  const beside: Place = { ...place, folder: posix.dirname(place.server) }
  const [databaseFile, mailer] = [inFolder(beside, 'database.ts'), inFolder(beside, 'mailer.ts')]
  const exists = (file: string) => existsSync(join(place.project.root, file))
  const kind =
    typed === undefined ? (exists(databaseFile) ? 'database' : 'memory') : oneOf('--type', typed, accountKinds)
  if (kind === 'database' && !exists(databaseFile))
    throw new CommandFailure(`${databaseFile} is missing: "${programName} init-database" writes it`)
  const values = {
    ...valuesOf(kind, accountKinds),
    commandLine: commandLineOf(place.project.packageManager),
    databaseFile,
    accountsModule: pathBetween(databaseFile, inFolder(place, 'accounts.ts')),
    mailer: importPath(place, mailer),
    pages: inFolder(place, 'pages'),
  }
  const { files, next } = fromTemplates(place, 'auth', 'auth', values)
  const others = accountFiles.map((name) => ({ path: inFolder(place, name), text: sourceFrom(`auth/${name}`, values) }))
  const mail = exists(mailer) ? undefined : mailerIn(beside, 'none')
  return {
    files: [...files, ...others, ...(mail?.files ?? [])],
    next,
    packages: ['jose', ...(mail?.packages ?? [])],
    variables: [
      {
        ...requiredSecret('TOKEN_SECRET', '', randomBytes(48).toString('base64url')),
        test: 'a secret of 32 characters that only tests know',
      },
      required('APP_URL', 'http://localhost:3000'),
      ...(mail?.variables ?? []),
    ],
  }
}
