import { dirname, relative, resolve } from 'node:path'
import { safely } from '../../plugins/shared/values/safely.ts'
import { wrongUsage } from '../failure.ts'
import type { Answers } from '../init/questions.ts'
import type { PackageManager } from '../project/project.ts'
import { canAsk } from '../prompts/ask.ts'
import { ownCommand } from '../run/own-command.ts'
import { scaffoldFlags, writeFiles } from '../scaffold/files.ts'

export const init = ownCommand({
  arguments: [
    { name: 'folder', description: 'The folder of the project, created if missing (default: the current one)' },
  ],
  flags: {
    mqtt: { type: 'boolean', short: 'm', description: 'Adds messages of an MQTT broker' },
    cron: { type: 'boolean', short: 'c', description: 'Adds scheduled jobs' },
    graphql: { type: 'boolean', short: 'g', description: 'Adds GraphQL' },
    container: { type: 'boolean', description: 'Adds a Dockerfile and a compose.yaml' },
    agents: { type: 'boolean', description: 'Adds an AGENTS.md, for assistants' },
    editor: { type: 'boolean', description: 'Adds editor settings' },
    name: { type: 'string', value: 'name', description: 'The name of the package (default: the name of the folder)' },
    pm: {
      type: 'string',
      value: 'name',
      description:
        'npm, pnpm, yarn, bun or deno, which also sets the runtime (default: the one that runs this command)',
    },
    install: { type: 'boolean', description: 'Installs the packages' },
    'skip-install': { type: 'boolean', description: 'Skips this without asking' },
    git: { type: 'boolean', description: 'Creates a git repository with a first commit' },
    'skip-git': { type: 'boolean', description: 'Skips this without asking' },
    yes: { type: 'boolean', short: 'y', description: 'Asks nothing' },
    framework: {
      type: 'string',
      value: 'version',
      description: 'The framework to depend on: a version, a tarball or a folder (default: the source of this one)',
    },
    vendor: {
      type: 'boolean',
      description: 'Keeps a copy of the framework in vendor/, the default if this one runs from a clone',
    },
    ...scaffoldFlags,
  },
  details:
    'On a terminal it asks about everything that no option sets. Otherwise, or with --yes, it asks nothing: no optional parts, no\n' +
    'repository, nothing installed. An existing package.json and .gitignore get the entries that they lack;\n' +
    'existing README.md, .env and settings files, such as tsconfig.json, stay unchanged. If src/server.ts exists, --container, --agents\n' +
    'and --editor add their files and nothing else.',
  async run({ arguments: { folder }, flags, print, note }) {
    const { callingManager } = await import('../project/project.ts')
    const { checkedName, checkedPackageManager, extras, frameworkFrom, ownName, parts, vendored } = await import(
      '../init/settings.ts'
    )
    if (flags.vendor && flags.framework !== undefined) {
      throw wrongUsage('--vendor copies this version: leave --framework out')
    }
    const typed = {
      folder,
      name: flags.name === undefined ? undefined : checkedName(flags.name),
      packageManager: flags.pm === undefined ? undefined : checkedPackageManager(flags.pm),
      parts: typedOf(parts, flags),
      extras: typedOf(extras, flags),
      install: either(flags.install, flags['skip-install']),
      git: either(flags.git, flags['skip-git']),
    }
    if (typed.extras !== undefined && typed.parts === undefined) {
      const { addExtras, hasServer } = await import('../init/added.ts')
      const there = resolve(folder ?? '.')
      if (hasServer(there)) return addExtras(there, typed.extras, typed.packageManager, { flags, print, note })
    }
    const around = await enclosing(resolve(folder ?? '.'))
    const detected = callingManager() ?? around?.packageManager ?? 'npm'
    const answers = canAsk() && !flags.yes && !flags.json ? await ask(typed, detected) : typed
    if (answers === undefined) {
      note('\nCancelled: nothing was written.')
      return 130
    }
    const root = resolve(answers.folder ?? '.')
    const packageManager = answers.packageManager ?? detected
    const settings = {
      folder: root,
      name: answers.name ?? ownName(root),
      packageManager,
      parts: answers.parts ?? new Set(),
      extras: answers.extras ?? new Set(),
      framework: flags.vendor ? vendored(packageManager) : frameworkFrom(flags.framework, root, packageManager),
    } as const
    const { projectFiles } = await import('../init/files.ts')
    const about = {
      folder: root,
      name: settings.name,
      packageManager: settings.packageManager,
      parts: [...settings.parts],
    }
    writeFiles(root, projectFiles(settings, around !== undefined), { flags, print }, about)
    if (around !== undefined) {
      note(`It is within the project ${around.root}, which may have to list it as a workspace.`)
      if (packageManager === 'pnpm') note('Its pnpm-workspace.yaml needs "allowBuilds: { esbuild: false }", or true.')
    }
    if (flags['dry-run']) return
    if (flags.vendor) {
      const { vendor, vendoredPath } = await import('../init/vendor.ts')
      vendor(root, packageManager)
      note(`The framework is in ${vendoredPath(packageManager)}.`)
    }
    const { firstCommit, gitInit, inRepository, install, installAll, runCommand } = await import('../init/commands.ts')
    const isNew = answers.git === true && !inRepository(root)
    const noRepository = isNew ? gitInit(root) : undefined
    if (noRepository !== undefined) note(`It is not a git repository: ${noRepository}`)
    if (answers.install === true) await install(root, settings.packageManager)
    // After the installation, so that the commit has the lock file, if there is one.
    const noCommit = isNew && noRepository === undefined ? firstCommit(root) : undefined
    if (noCommit !== undefined) note(`Nothing is committed yet: ${noCommit}`)
    const here = relative(process.cwd(), root)
    const steps = [
      ...(here === '' ? [] : [`cd ${/^[\w./@-]+$/.test(here) ? here : JSON.stringify(here)}`]),
      ...(answers.install === true ? [] : [installAll(settings.packageManager)]),
      runCommand(settings.packageManager, 'dev'),
    ]
    note('')
    for (const line of ['Next:', ...steps.map((step) => `  ${step}`)]) note(line)
  },
})

/** The choice of two flags; `undefined` if neither was typed. */
const either = (yes: boolean, no: boolean) => (yes ? true : no ? false : undefined)

/** The typed flags; `undefined` if none was typed. */
function typedOf<Name extends string>(names: readonly Name[], flags: Readonly<Record<Name, boolean>>) {
  const chosen = names.filter((name) => flags[name])
  return chosen.length === 0 ? undefined : new Set(chosen)
}

/** Asks the open questions; `undefined` if they were cancelled. */
async function ask(given: Answers, packageManager: PackageManager): Promise<Answers | undefined> {
  const { askFor } = await import('../init/questions.ts')
  const { Cancelled, openPrompts } = await import('../prompts/prompts.ts')
  const prompts = openPrompts(process.stdin, process.stderr)
  try {
    return await askFor(given, { prompts, packageManager })
  } catch (error) {
    if (error instanceof Cancelled) return undefined
    throw error
  }
}

/** The project that would contain the new one. */
async function enclosing(folder: string) {
  const { findProject } = await import('../project/project.ts')
  return safely(() => findProject(dirname(folder)))
}
