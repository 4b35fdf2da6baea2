import { existsSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import type { CommandInput } from '../../plugins/shared/development/command-definition.ts'
import {
  callingManager,
  type PackageManager,
  packageManagers,
} from '../../plugins/shared/environment/optional-package.ts'
import { safely } from '../../plugins/shared/values/safely.ts'
import { oneOf, wrongUsage } from '../failure.ts'
import { firstCommit, gitInit, install, installAll } from '../init/commands.ts'
import { extraFiles, projectFiles } from '../init/files.ts'
import { type Extra, extraNames, type Part, partNames, parts } from '../init/parts.ts'
import { askFor } from '../init/questions.ts'
import {
  checkedName,
  frameworkFrom,
  type InitSettings,
  ownName,
  vendor,
  vendored,
  vendoredPath,
} from '../init/settings.ts'
import { commandLineOf, findProject, inRepository, projectRoot, runCommand } from '../project/project.ts'
import { asking, canAsk, cancelled } from '../prompts/ask.ts'
import { onOff, ownCommand, text } from '../run/own-command.ts'
import { databaseKinds } from '../scaffold/databases.ts'
import { scaffoldFlags, writeFiles } from '../scaffold/files.ts'

export const init = ownCommand({
  arguments: [
    { name: 'folder', description: 'The folder of the project, created if missing (default: the current one)' },
  ],
  flags: {
    mqtt: onOff('Adds a subscriber to an MQTT topic', { short: 'm' }),
    cron: onOff('Adds scheduled jobs', { short: 'c' }),
    graphql: onOff('Adds GraphQL', { short: 'g' }),
    database: text(databaseKinds.join('|'), 'Adds a database, with a first migration'),
    container: onOff('Adds a Dockerfile and a compose.yaml'),
    agents: onOff('Adds an AGENTS.md for coding assistants'),
    editor: onOff('Adds editor settings'),
    name: text('name', 'The name of the package (default: the name of the folder)'),
    pm: text(
      'name',
      'npm, pnpm, yarn, bun or deno (default: the one that runs this command); it also sets the runtime',
    ),
    install: onOff('Installs the packages'),
    'skip-install': onOff('Does not ask, and does not install the packages'),
    git: onOff('Creates a git repository with a first commit'),
    'skip-git': onOff('Does not ask, and does not create a repository'),
    yes: onOff('Asks nothing', { short: 'y' }),
    framework: text(
      'version',
      'The framework to install: a version, a tarball or a folder (default: where this copy came from)',
    ),
    vendor: onOff('Copies the framework into vendor/ (the default if this copy runs from a clone)'),
    ...scaffoldFlags,
  },
  details:
    'In a terminal, the command asks about everything that no option sets. Otherwise, or with --yes, it asks nothing, and adds parts,\n' +
    'creates a repository and installs packages only if an option says so. It adds missing entries to an existing package.json and\n' +
    '.gitignore, and does not change an existing README.md, .env or settings file, such as tsconfig.json. If src/server.ts exists,\n' +
    '--container, --agents and --editor add their files and nothing else.',
  async run({ arguments: { folder }, flags, print, note }) {
    if (flags.vendor && flags.framework !== undefined)
      throw wrongUsage('--vendor copies this version: leave --framework out')
    const typed = {
      folder,
      name: flags.name === undefined ? undefined : checkedName(flags.name),
      packageManager: flags.pm === undefined ? undefined : oneOf('--pm', flags.pm, packageManagers),
      parts: typedParts(flags),
      extras: typedOf(extraNames, flags),
      install: either(flags.install, flags['skip-install']),
      git: either(flags.git, flags['skip-git']),
    }
    if (typed.extras !== undefined && typed.parts === undefined) {
      const there = resolve(folder ?? '.')
      if (hasServer(there)) return addExtras(there, typed.extras, typed.packageManager, { flags, print, note })
    }
    // The project that would contain the new one.
    const around = safely(() => findProject(dirname(resolve(folder ?? '.'))))
    const detected = callingManager() ?? around?.packageManager ?? 'npm'
    const ask = () => asking((prompts) => askFor(typed, { prompts, packageManager: detected }))
    const answers = canAsk() && !flags.yes && !flags.json ? await ask() : typed
    if (answers === undefined) return cancelled(note)
    if (databaseKinds.filter((kind) => answers.parts?.has(kind)).length > 1)
      throw wrongUsage(`a project begins with one database: ${databaseKinds.join(' or ')}`)
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
    writeFiles(root, projectFiles(settings, around !== undefined), { flags, print }, aboutOf(settings))
    if (around !== undefined) {
      note(`It is within the project ${around.root}, which may have to list it as a workspace.`)
      if (packageManager === 'pnpm') note('Its pnpm-workspace.yaml needs "allowBuilds: { esbuild: false }", or true.')
    }
    if (flags['dry-run']) return
    if (flags.vendor) {
      vendor(root, packageManager)
      note(`The framework is in ${vendoredPath(packageManager)}.`)
    }
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
      ...(databaseKinds.some((kind) => settings.parts.has(kind))
        ? [`${commandLineOf(settings.packageManager)} migrate`]
        : []),
      runCommand(settings.packageManager, 'dev'),
    ]
    note('')
    for (const line of ['Next:', ...steps.map((step) => `  ${step}`)]) note(line)
  },
})

/** The choice of two flags; `undefined` if neither was typed. */
const either = (yes: boolean, no: boolean) => (yes ? true : no ? false : undefined)

/** The optional parts of the flags; `undefined` if none was typed. */
function typedParts(
  flags: Readonly<Record<'mqtt' | 'cron' | 'graphql', boolean>> & { readonly database: string | undefined },
) {
  const database = flags.database === undefined ? [] : [oneOf('--database', flags.database, databaseKinds)]
  const chosen: Part[] = [...(typedOf(['mqtt', 'cron', 'graphql'] as const, flags) ?? []), ...database]
  return chosen.length === 0 ? undefined : new Set(chosen)
}

/** The typed flags; `undefined` if none was typed. */
function typedOf<Name extends string>(names: readonly Name[], flags: Readonly<Record<Name, boolean>>) {
  const chosen = names.filter((name) => flags[name])
  return chosen.length === 0 ? undefined : new Set(chosen)
}

/** The description of a project in the JSON of the command. */
const aboutOf = ({ parts, folder, name, packageManager }: InitSettings) => ({
  folder,
  name,
  packageManager,
  parts: [...parts],
})

/** Whether a folder is already a project with an application, to which `init` only adds files. */
const hasServer = (folder: string): boolean =>
  projectRoot(folder) === folder && existsSync(join(folder, 'src/server.ts'))

/** Writes the files next to the code into an existing project, and nothing else. */
function addExtras(
  root: string,
  extras: ReadonlySet<Extra>,
  typedManager: PackageManager | undefined,
  { flags, print, note }: Pick<CommandInput, 'flags' | 'print' | 'note'>,
): void {
  const packageManager = typedManager ?? findProject(root).packageManager
  const settings = {
    folder: root,
    name: ownName(root),
    packageManager,
    parts: new Set(
      partNames.filter((part) => parts[part].folder !== 'src' && existsSync(join(root, parts[part].folder))),
    ),
    extras,
    // A copy of the framework is also in the image.
    framework: existsSync(join(root, 'vendor'))
      ? vendored(packageManager)
      : frameworkFrom(undefined, root, packageManager),
  }
  writeFiles(root, extraFiles(settings), { flags, print }, aboutOf(settings))
  const names = [...extras].map((extra) => `--${extra}`).join(' and ')
  note(`src/server.ts already exists: only the files of ${names} are added.`)
}
