import { packageName } from '../package.ts'
import { commandLineOf, runtimeOf } from '../project/project.ts'
import type { ScaffoldFile } from '../scaffold/files.ts'
import { runCommand } from './commands.ts'
import { scriptsOf } from './manifest.ts'
import type { InitSettings } from './settings.ts'

/** Facts for an assistant that works on the project, which its files do not show. */
export function agentsFile(settings: InitSettings): ScaffoldFile {
  const run = (script: string) => `\`${runCommand(settings.packageManager, script)}\``
  const line = commandLineOf(settings.packageManager)
  const build = 'build' in scriptsOf(settings) ? `, ${run('build')}` : ''
  return {
    path: 'AGENTS.md',
    existing: 'keep',
    text: `# For assistants

- After a change: ${run('check')} and ${run('test')}${build}. ${run('dev')} serves, and starts again whenever a file changes.
- The documentation of the framework is in \`node_modules/${packageName}/docs\`: \`getting-started.md\`, then one page a plugin in \`plugins/\`.
- \`${line} list\` lists the commands that write controllers, plugins, jobs and more, each with its test; \`${line} explain GET /\` the steps of a
  request.
- \`src/server.ts\` makes the server and does not listen; tests send requests by \`server.inject\`, without a port.
- Variables of the environment are declared in \`src/env.ts\` and read there alone. A new one goes into \`.env.example\`, too. \`.env\` has secrets: it stays
  out of git and out of answers.
- Imports of own files end in \`.ts\`. Types are strict; what a request may be is said by schemas, which give \`req.body\` its type.
`,
  }
}

/** Settings of editors: the same line ends and blanks for everyone, and a debugger for `serve --inspect`. */
export function editorFiles({ packageManager }: InitSettings): ScaffoldFile[] {
  const runtime = runtimeOf(packageManager)
  const json = (value: object) => `${JSON.stringify(value, null, 2)}\n`
  const attach = { type: 'node', request: 'attach', name: 'Attach to serve --inspect', port: 9229, restart: true }
  return [
    {
      path: '.editorconfig',
      text: 'root = true\n\n[*]\ncharset = utf-8\nend_of_line = lf\nindent_style = space\nindent_size = 2\ninsert_final_newline = true\n',
      existing: 'keep',
    },
    {
      path: '.vscode/settings.json',
      text: json({
        'files.eol': '\n',
        ...(runtime === 'deno' && { 'deno.enable': true }),
      }),
      existing: 'keep',
    },
    ...(runtime === 'node'
      ? [
          {
            path: '.vscode/launch.json',
            text: json({ version: '0.2.0', configurations: [attach] }),
            existing: 'keep' as const,
          },
        ]
      : []),
  ]
}
