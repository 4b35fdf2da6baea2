import { existsSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { wrongUsage } from '../failure.ts'
import { installAll, runCommand } from '../init/commands.ts'
import { packageName, programName } from '../package.ts'
import { readManifest } from '../project/project.ts'
import { fromHere } from '../project/working-folder.ts'
import { ownCommand } from '../run/own-command.ts'
import { plugin, pluginValues } from '../scaffold/kinds/plugin.ts'
import { pluginPackage } from '../scaffold/kinds/plugin-package.ts'
import { type Names, namesOf } from '../scaffold/names.ts'
import type { Place } from '../scaffold/place.ts'
import { generateFlags, type Scaffold, scaffold } from '../scaffold/scaffold.ts'

export const generatePlugin = ownCommand({
  details: `Writes src/plugins/<name>/: the plugin with its options, its service, their types, and a test. With --package it writes
a separate package, ${programName}-<name>, that can be published.`,
  arguments: [{ name: 'name', description: 'The name of the plugin: audit, feature-flags', required: true }],
  flags: {
    package: { type: 'boolean', description: 'Writes a package, into packages/ if that folder exists' },
    ...generateFlags,
  },
  async run(input) {
    const names = namesOf(input.arguments.name, 'plugin')
    await refuseKnown(names)
    if (input.flags.package) scaffold(input, '', (place) => packageIn(place, names, input.flags.dir))
    else scaffold(input, `plugins/${names.kebab}`, (place) => plugin(place, names))
  },
})

/** Refuses the names of the framework's own plugins and services, which the new one would replace. */
async function refuseKnown({ camel, kebab }: Names): Promise<void> {
  const { catalog, core } = await import('../../plugins/catalog.ts')
  const known = [...Object.keys(catalog), ...core.map((factory) => factory.plugin.name)]
  if (!known.includes(camel)) return
  throw wrongUsage(`the framework has a plugin ${camel}: choose another name, for example ${kebab}-extras`)
}

function packageIn({ project, folder }: Place, names: Names, dir: string | undefined): Scaffold {
  const { kebab } = names
  const parent = existsSync(join(project.root, 'packages')) ? `packages/${kebab}` : kebab
  const target = dir === undefined ? parent : folder
  if (target === '.') throw wrongUsage('--dir is the project itself: choose a folder for the package')
  return {
    files: pluginPackage(target, pluginValues(names), installedFrom(project.root, target)),
    next: [
      `To try it:`,
      `  cd ${fromHere(join(project.root, target))}`,
      `  ${installAll(project.packageManager)}`,
      ...['test', 'build'].map((script) => `  ${runCommand(project.packageManager, script)}`),
      `LICENSE is the MIT licence; put your name into it, or choose another licence.`,
    ],
  }
}

/** The tarball or folder from which the project has the framework, if so: the new package uses the same. */
function installedFrom(root: string, target: string): string | undefined {
  const { dependencies } = readManifest(join(root, 'package.json')) as { dependencies?: Record<string, unknown> }
  const path = /^file:(.+)$/.exec(String(dependencies?.[packageName]))?.[1]
  return path === undefined
    ? undefined
    : `file:${relative(join(root, target), resolve(root, path)).replaceAll('\\', '/')}`
}
