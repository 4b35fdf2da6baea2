import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { commandOf, targets } from '../conformance/targets.ts'
import { type Runner, startRunner } from '../support/cli/many.ts'
import { makeProject, type Project, runIn, writeJavaScript } from '../support/cli.ts'
import { type SmtpServer, startSmtp } from '../support/smtp.ts'

// What the generated modules have made of the environment; only an email goes anywhere.
const script = `import { Server, Storage } from 'framework'
import { storageOptions as azure } from './src/azure/storage.ts'
import { queueConfig as bullmq } from './src/bullmq/config.ts'
import { storageOptions as local } from './src/local/storage.ts'
import { mailOptions, welcome } from './src/mailer.ts'
import { queueConfig as pgboss } from './src/pgboss/config.ts'
import { storageOptions as s3 } from './src/s3/storage.ts'
import { queueConfig as sqs } from './src/sqs/config.ts'

const { connection } = bullmq.bullmq
const { connectionString } = pgboss.pgboss
const { region, credentials, endpoint } = sqs.sqs
const url = ({ providers }, method) => new Storage(providers)[method]('a.txt').then((url) => url.split('?')[0], String)
const signed = new URL(await new Storage(s3.providers).getDownloadUrl('a.txt'))
const emails = {}
for (const mode of ['production', undefined, 'development', 'test']) {
  if (mode === undefined) delete process.env.NODE_ENV
  else process.env.NODE_ENV = mode
  try {
    const server = new Server({ plugins: { mailer: mailOptions() } })
    await server.services.get('mailer').send(welcome('ada@example.org', mode ?? 'nobody'))
    emails[mode] = 'sent'
    await server.close()
  } catch (error) {
    emails[mode] = error.message
  }
}
console.log(JSON.stringify({
  queues: [connection, connectionString, region, credentials, endpoint],
  azure: await url(azure, 'getPublicUrl'),
  local: await url(local, 'getDownloadUrl'),
  s3: [signed.host, signed.pathname, signed.searchParams.get('X-Amz-Credential').split('/')[0]],
  emails,
}))
`

const file = {
  REDIS_URL: 'redis://file:6379',
  DATABASE_URL: 'postgres://file/db',
  SQS_ENDPOINT: 'http://file:9324',
  S3_BUCKET: 'file-bucket',
  S3_ENDPOINT: 'http://file:9000',
  AWS_REGION: 'eu-south-1',
  AWS_ACCESS_KEY_ID: 'FILEKEY',
  AWS_SECRET_ACCESS_KEY: 'file-secret',
  AZURE_STORAGE_CONTAINER: 'file-container',
  AZURE_STORAGE_CONNECTION_STRING:
    'DefaultEndpointsProtocol=https;AccountName=file;AccountKey=a2V5;EndpointSuffix=core.windows.net',
  STORAGE_ROOT: 'storage',
  STORAGE_SECRET: 'the secret of the file',
}
const credentials = { accessKeyId: 'FILEKEY', secretAccessKey: 'file-secret' }
const ofFile = {
  queues: [file.REDIS_URL, file.DATABASE_URL, 'eu-south-1', credentials, file.SQS_ENDPOINT],
  azure: 'https://file.blob.core.windows.net/file-container/a.txt',
  local: '/storage/a.txt',
  s3: ['file:9000', '/file-bucket/a.txt', 'FILEKEY'],
  emails: { production: 'sent', undefined: 'sent', development: 'sent', test: 'sent' },
}
const textOf = (variables: object) =>
  Object.entries(variables)
    .map(([name, value]) => `${name}='${value}'\n`)
    .join('')

let project: Project
let smtp: SmtpServer
let runner: Runner
beforeAll(async () => {
  smtp = await startSmtp()
  project = makeProject(
    { 'script.js': script, 'script.node.js': script.replaceAll(/'\.\/src\/(.*)\.ts'/g, "'./built/$1.js'") },
    [
      ...['nodemailer', '@aws-sdk', '@azure'],
      // Deno looks for their dependencies beside them.
      ...['@smithy', 'tslib'],
    ],
  )
  runner = startRunner()
  const commands = [
    ['init-mailer', '-t', 'none'],
    ...['bullmq', 'pgboss', 'sqs'].map((kind) => ['init-queue', '-t', kind, '--dir', `src/${kind}`]),
    ...['local', 's3', 'azure'].map((kind) => ['init-storage', '-t', kind, '--dir', `src/${kind}`]),
  ]
  for (const argv of commands) expect((await runner.run(project.folder, argv)).code, argv.join(' ')).toBe(0)
  await writeJavaScript(project, 'built')
  project.write({
    '.env': textOf({ ...file, SMTP_URL: `smtp://127.0.0.1:${smtp.port}`, MAIL_FROM: 'file@example.org' }),
  })
})
afterAll(async () => {
  runner.close()
  project.remove()
  await smtp.stop()
})

const unset = Object.fromEntries(
  [...Object.keys(file), 'SMTP_URL', 'MAIL_FROM', 'AWS_SESSION_TOKEN'].map((name) => [name, undefined]),
)

async function run(name: string, env: NodeJS.ProcessEnv = {}) {
  const [command] = commandOf(targets.find((target) => target.name === name)!)
  const deno = ['run', '-A', '--no-check', '--node-modules-dir=manual']
  const argv = { node: ['script.node.js'], bun: ['run', 'script.js'], deno: [...deno, 'script.js'] }[name]!
  const all = { ...unset, NODE_ENV: undefined, NO_COLOR: '1', ...env }
  const { stdout, stderr } = await runIn(project.folder, [command!, ...argv], all)
  const lines = stdout.trim().split('\n')
  expect(lines, stderr).not.toEqual([''])
  return { made: JSON.parse(lines.at(-1)!), log: lines.slice(0, -1).join('\n') }
}

test.each([
  'node',
  'bun',
  'deno',
])('what is generated reads .env on %s, and emails leave, those of tests do not', async (name) => {
  smtp.received.splice(0)
  expect((await run(name)).made).toEqual(ofFile)
  expect(smtp.received).toHaveLength(3)
  expect(smtp.received[0]).toMatchObject({ from: 'file@example.org', to: ['ada@example.org'] })
})

test('the environment of the process wins; without SMTP_URL no email is reported as sent that stays here', async () => {
  smtp.received.splice(0)
  const process = { REDIS_URL: 'redis://process:1', S3_BUCKET: 'of-process', SMTP_URL: '' }
  const { made, log } = await run('node', process)
  // The mode changes while this process runs: the plugin refuses a value that the schema has accepted outside of production.
  const missing = expect.stringContaining('NODE_ENV=production needs a server')
  expect(made).toEqual({
    ...ofFile,
    queues: ['redis://process:1', ...ofFile.queues.slice(1)],
    s3: ['file:9000', '/of-process/a.txt', 'FILEKEY'],
    emails: { production: missing, undefined: 'sent', development: 'sent', test: 'sent' },
  })
  expect(log.match(/"msg":"SMTP_URL is missing: emails stay in memory"/g)).toHaveLength(3)
  expect(smtp.received).toEqual([])
})

test('a missing required variable fails the boot, with its name', async () => {
  const env = { ...unset, NODE_ENV: 'production', REDIS_URL: '', STORAGE_SECRET: '', SMTP_URL: '' }
  const { code, stderr } = await runIn(project.folder, [process.execPath, 'script.node.js'], env)
  expect([code, stderr]).toEqual([1, expect.stringContaining('REDIS_URL is empty; it takes text')])
  expect(stderr).toContain('STORAGE_SECRET is empty; it takes text')
  expect(stderr).toContain('SMTP_URL is empty; it takes text')
})

describe('variables of generated code', () => {
  const read = (folder: string, file: string) => readFileSync(join(folder, file), 'utf8')
  const withProject = async (files: Record<string, string>, use: (folder: string, run: Run) => Promise<void>) => {
    const own = makeProject(files)
    try {
      await use(own.folder, async (...argv) => {
        const ended = await runner.run(own.folder, argv)
        expect(ended.code, ended.stderr).toBe(0)
        return ended
      })
    } finally {
      own.remove()
    }
  }
  type Run = (...argv: string[]) => Promise<{ stdout: string; stderr: string }>

  test('are each added once, to existing text, and a second run changes nothing', async () => {
    const module = `import { createEnvSchema } from 'framework'

export const env = createEnvSchema((s) => ({
  // A brace in a comment } and one in a text
  NAME: s.string({ default: '}' }),
  REDIS_URL: s.string() // ours
}))
`
    const files = {
      'src/env.ts': module,
      '.env': 'NAME="\nSTORAGE_ROOT=no entry"',
      '.env.example': '# REDIS_URL=redis://ours\nNAME=\n',
    }
    await withProject(files, async (folder, run) => {
      await run('init-queue', '-t', 'bullmq')
      await run('init-storage', '-t', 'local')
      const secret = /^STORAGE_SECRET=([\w-]{32})$/m.exec(read(folder, '.env'))![1]
      const after = ['src/env.ts', '.env', '.env.example', '.env.test', '.gitignore'].map((file) => read(folder, file))
      expect(after.slice(0, 4)).toEqual([
        module.replace(
          's.string() // ours\n',
          's.string(), // ours\n  STORAGE_ROOT: s.string(),\n  STORAGE_SECRET: s.string({ secret: true }),\n',
        ),
        `NAME="\nSTORAGE_ROOT=no entry"\nREDIS_URL=redis://127.0.0.1:6379\nSTORAGE_ROOT=storage\nSTORAGE_SECRET=${secret}\n`,
        '# REDIS_URL=redis://ours\nNAME=\nREDIS_URL=redis://127.0.0.1:6379\nSTORAGE_ROOT=storage\nSTORAGE_SECRET=\n',
        'REDIS_URL=redis://127.0.0.1:6379\nSTORAGE_ROOT=storage\nSTORAGE_SECRET=a secret that only tests know\n',
      ])
      const { stdout } = await run('init-storage', '-t', 'local')
      expect(stdout).not.toMatch(/created|updated/)
      expect(
        ['src/env.ts', '.env', '.env.example', '.env.test', '.gitignore'].map((file) => read(folder, file)),
      ).toEqual(after)
    })
  })

  test('are in files that are created where they are missing, and git ignores the one with secrets', async () => {
    await withProject({}, async (folder, run) => {
      await run('init-storage', '-t', 'local')
      expect(read(folder, 'src/env.ts')).toContain('  STORAGE_SECRET: schema.string({ secret: true }),\n}))\n')
      expect(statSync(join(folder, '.env')).mode & 0o777).toBe(0o600)
      expect(read(folder, '.gitignore')).toBe('/storage/\n.env\n.env.local\n.env.*.local\n')
    })
  })

  test('are reported where a file has a form to which nothing can be added', async () => {
    const files = { 'src/env.ts': 'export const env = make()\n', '.env': '{ "A": 1 }' }
    await withProject(files, async (folder, run) => {
      const { stderr } = await run('init-queue', '-t', 'bullmq')
      expect(stderr).toContain(
        'src/env.ts has its own form. The written code reads these variables from it:\n  REDIS_URL: schema.',
      )
      expect(stderr).toContain('.env has its own form. The written code reads these variables from it:\n  REDIS_URL\n')
      expect([read(folder, 'src/env.ts'), read(folder, '.env')]).toEqual(Object.values(files))
    })
  })
})
