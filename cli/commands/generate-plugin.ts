import { existsSync } from 'node:fs'
import { join, relative } from 'node:path'
import { wrongUsage } from '../failure.ts'
import { installAll } from '../init/commands.ts'
import { manifest, programName } from '../package.ts'
import { fromHere, installedFrom, runCommand } from '../project/project.ts'
import { onOff, ownCommand } from '../run/own-command.ts'
import type { ScaffoldFile } from '../scaffold/files.ts'
import { identifier, type Names, namesOf } from '../scaffold/names.ts'
import { importPath, inFolder, type Place } from '../scaffold/place.ts'
import { generateFlags, type Scaffold, scaffold, sourceFrom, stepsFrom } from '../scaffold/scaffold.ts'
import { fromTemplate } from '../scaffold/template.ts'

export const generatePlugin = ownCommand({
  details: `Writes src/plugins/<name>/ with a plugin, its options, its service, their types and a test. With --package, it writes a
separate package, ${programName}-<name>, that you can publish.`,
  arguments: [{ name: 'name', description: 'The name of the plugin: audit, feature-flags', required: true }],
  flags: {
    package: onOff('Writes a package, into packages/ if that folder exists'),
    ...generateFlags,
  },
  async run(input) {
    const names = namesOf(input.arguments.name, 'plugin')
    await refuseKnown(names)
    if (input.flags.package) scaffold(input, '', (place) => packageIn(place, names, input.flags.dir))
    else scaffold(input, `plugins/${names.kebab}`, (place) => plugin(place, names))
  },
})

/** Names of services that are not those of their plugin, and those that no service may have. */
const services = ['databases', 'websockets', 'get', 'find', 'has', 'provide', 'names', 'then']

/** Refuses the names of the framework's own plugins and services, which the new one would replace. */
async function refuseKnown({ camel, kebab }: Names): Promise<void> {
  const { catalog, core } = await import('../../plugins/catalog.ts')
  const known = [...Object.keys(catalog), ...core.map((factory) => factory.plugin.name), ...services]
  if (!known.includes(camel)) return
  throw wrongUsage(`the framework has a plugin or service ${camel}: choose another name, for example ${kebab}-extras`)
}

function packageIn({ project, folder }: Place, names: Names, dir: string | undefined): Scaffold {
  const parent = existsSync(join(project.root, 'packages')) ? `packages/${names.kebab}` : names.kebab
  const target = dir === undefined ? parent : folder
  if (target === '.') throw wrongUsage('--dir is the project itself: choose a folder for the package')
  const from = installedFrom(project.root)
  const installed = from && `file:${relative(join(project.root, target), from).replaceAll('\\', '/')}`
  return {
    files: pluginPackage(target, pluginValues(names), installed),
    next: [
      `To try it:`,
      `  cd ${fromHere(join(project.root, target))}`,
      `  ${installAll(project.packageManager)}`,
      ...['test', 'build'].map((script) => `  ${runCommand(project.packageManager, script)}`),
      `LICENSE is the MIT licence; put your name into it, or choose another licence.`,
    ],
  }
}

/** The names in the files of one plugin: `name` is the factory, `key` its service, and the plugin in the object form. */
const pluginValues = ({ kebab, camel, pascal }: Names) => ({
  kebab,
  name: identifier(camel, 'Plugin'),
  key: camel,
  pascal,
})

type PluginValues = ReturnType<typeof pluginValues>

/** A plugin of the application: a folder with its public names, its glue, its service and a test. */
function plugin(place: Place, names: Names): Scaffold {
  const values = pluginValues(names)
  const index = inFolder(place, 'index.ts')
  return {
    files: [
      ...pluginModules(place.folder, values),
      {
        path: inFolder(place, `${names.kebab}.test.ts`),
        text: sourceFrom(pluginTest, { ...values, testModule: place.testModule, index: './index.ts' }),
      },
    ],
    next: stepsFrom('plugin/next', { ...values, server: place.server, module: importPath(place, index) }),
  }
}

const pluginModules = (folder: string, values: PluginValues): ScaffoldFile[] =>
  ['index.ts', 'plugin.ts', 'service.ts'].map((file) => ({
    path: inFolder({ folder }, file),
    text: sourceFrom(`plugin/${file}`, values),
  }))

const pluginTest = 'plugin/plugin.test.ts'

/** A plugin as a package that can be published, in a folder of its own. `installed` is its development dependency on the framework. */
function pluginPackage(folder: string, plugin: PluginValues, installed: string | undefined): ScaffoldFile[] {
  const { kebab } = plugin
  const { version, engines, devDependencies: tools } = manifest
  const values = {
    ...plugin,
    package: `${programName}-${kebab}`,
    program: programName,
    range: `^${version}`,
    installed: installed ?? `^${version}`,
    node: engines.node,
    types: tools['@types/node'],
    tsx: tools.tsx,
    typescript: tools.typescript,
    testModule: 'node:test',
    index: '../src/index.ts',
  }
  const file = (path: string) => ({ path: `${folder}/${path}`, text: fromTemplate(`plugin-package/${path}`, values) })
  return [
    ...['package.json', 'tsconfig.json', 'tsconfig.build.json', '.gitignore', 'README.md', 'LICENSE'].map(file),
    ...pluginModules(`${folder}/src`, plugin),
    { path: `${folder}/test/${kebab}.test.ts`, text: sourceFrom(pluginTest, values) },
    file('test/types.test-d.ts'),
  ]
}
