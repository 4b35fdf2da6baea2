import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { readRegularFileSync } from '../../plugins/toolkit/read-file.ts'
import { runtimeOf } from '../project/project.ts'
import type { ScaffoldFile } from '../scaffold/files.ts'
import { ignoring } from '../scaffold/ignore.ts'
import { runCommand } from './commands.ts'
import { scriptsOf } from './manifest.ts'
import type { InitSettings } from './settings.ts'

/** The files other than code and settings of tools. */
export function documents(settings: InitSettings): ScaffoldFile[] {
  const ignored = join(settings.folder, '.gitignore')
  const before = existsSync(ignored) ? readRegularFileSync(ignored).toString('utf8') : ''
  const built = [
    ...(runtimeOf(settings.packageManager) === 'node' ? ['dist/'] : []),
    ...(settings.packageManager === 'yarn' ? ['.yarn/install-state.gz'] : []),
  ]
  return [
    // A repository that was created on a website already has both.
    { path: 'README.md', text: readme(settings), existing: 'keep' },
    {
      path: '.gitignore',
      text: ignoring(before, ['node_modules/', ...built, '.env', '.env.local', '.env.*.local']),
      existing: 'update',
    },
    {
      path: '.env',
      text: envFile(settings, '# Git leaves this file out. The environment of the process takes precedence.'),
      existing: 'keep',
      // Secrets will be added.
      mode: 0o600,
    },
    {
      path: '.env.example',
      text: envFile(settings, '# A template of .env for people who clone this: copy it to .env.'),
      existing: 'keep',
    },
    { path: '.env.test', text: '# Read while tests run.\nLOG_LEVEL=silent\n', existing: 'keep' },
  ]
}

const envFile = ({ parts }: InitSettings, about: string) =>
  [
    about,
    '# src/env.ts lists the variables.',
    'PORT=3000',
    'LOG_LEVEL=debug',
    ...(parts.has('mqtt') ? ['# MQTT_URL=mqtt://localhost:1883'] : []),
    '',
  ].join('\n')

const meanings: Readonly<Record<string, string>> = {
  dev: 'starts the server and restarts it whenever a file changes',
  test: 'runs the tests',
  check: 'checks the types',
  build: 'compiles to `dist/`',
  start: 'starts the server',
}

function readme(settings: InitSettings): string {
  const { name, packageManager, parts } = settings
  const scripts = scriptsOf(settings)
  const start = 'build' in scripts ? 'starts the built server' : meanings.start
  const commands = Object.entries({ ...meanings, start }).filter(([script]) => script in scripts)
  const folders = [
    ['src/index.ts', 'starts the server'],
    ['src/server.ts', 'the server and its routes'],
    ['src/env.ts', 'the variables of the environment, with their types'],
    ['src/logger.ts', 'the settings of the log'],
    ...(parts.has('mqtt') ? [['src/mqtt/', 'the handlers of MQTT messages']] : []),
    ...(parts.has('cron') ? [['src/crons/', 'scheduled jobs']] : []),
    ...(parts.has('graphql') ? [['src/graphql/', 'the schema of `/graphql` and its resolvers']] : []),
    ['src/**/*.test.ts', 'tests, which need no port'],
  ]
  const table = (left: string, rows: readonly (readonly string[])[]) =>
    [`| ${left} | |`, '| --- | --- |', ...rows.map(([a, b]) => `| \`${a}\` | ${b} |`)].join('\n')
  return `# ${name}

${table(
  'Command',
  commands.map(([script, meaning]) => [runCommand(packageManager, script), meaning!]),
)}

\`\`\`sh
curl http://localhost:3000/
curl http://localhost:3000/greetings -H 'content-type: application/json' -d '{"name":"Ada"}'
curl http://localhost:3000/health/ready
${parts.has('graphql') ? `curl http://localhost:3000/graphql -H 'content-type: application/json' -d '{"query":"{ hello }"}'\n` : ''}\`\`\`

${table('File', folders)}
`
}
