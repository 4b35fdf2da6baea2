import { packageManagers } from '../../plugins/shared/environment/optional-package.ts'
import { pinnedWorkspace } from '../project/packages.ts'
import { commandLineOf, runCommand, runtimeOf, testModule } from '../project/project.ts'
import { databaseKinds, databases } from '../scaffold/databases.ts'
import type { ScaffoldFile } from '../scaffold/files.ts'
import { ignoreFile } from '../scaffold/ignore.ts'
import { sourceFrom } from '../scaffold/scaffold.ts'
import { fromTemplate, type Values } from '../scaffold/template.ts'
import { file as commandFile, denoJson, packageJson, packagesFor, pinsOf } from './manifest.ts'
import { extras, partNames, parts } from './parts.ts'
import type { InitSettings } from './settings.ts'

/** Every file of a new project. `isPart` says that it is in another project, which has its own settings for the package manager. */
export function projectFiles(settings: InitSettings, isPart: boolean): ScaffoldFile[] {
  const { packageManager, parts: chosen } = settings
  const runtime = runtimeOf(packageManager)
  const { file, keep } = templatesFor(settings)
  const [workspace, pins] = [keep('pnpm-workspace.yaml'), Object.entries(pinsOf(settings))]
  return [
    { path: 'package.json', text: packageJson(settings), existing: 'update' },
    // Its decorators are those that Vitest compiles. The framework's decorators are written the same way in both protocols.
    runtime === 'deno' ? { path: 'deno.json', text: denoJson(settings), existing: 'keep' } : keep('tsconfig.json'),
    // Without it, Vitest uses the settings of a parent folder, and runs all tests below that.
    ...(runtime === 'node' ? [keep('vitest.config.ts')] : []),
    ...(packageManager === 'bun' ? [keep('bunfig.toml')] : []),
    ...(packageManager === 'pnpm' && !isPart
      ? [pins.length === 0 ? workspace : { ...workspace, text: pinnedWorkspace(workspace.text, pins)! }]
      : []),
    ...(packageManager === 'yarn' && !isPart ? [keep('.yarnrc.yml')] : []),
    ...['src/index.ts', 'src/server.ts', 'src/server.test.ts', 'src/logger.ts', 'src/env.ts'].map(file),
    ...[...chosen]
      .map((part) => parts[part])
      .flatMap(({ folder, module }) =>
        ['ts', 'test.ts'].map((end) =>
          module === 'database' ? database(settings, `database.${end}`) : file(`${folder}/${module}.${end}`),
        ),
      ),
    // A repository that was created on a website already has this and a .gitignore.
    keep('README.md'),
    gitignore(settings),
    // Secrets will be added.
    { ...keep('.env'), mode: 0o600 },
    ...['.env.example', '.env.test'].map(keep),
    ...extraFiles(settings),
  ]
}

/** What `init-database` writes. */
const database = (settings: InitSettings, name: string): ScaffoldFile => ({
  path: `src/${name}`,
  text: sourceFrom(name, { ...valuesOf(settings), envModule: './env.ts' }),
})

/** The files next to the code. */
export function extraFiles(settings: InitSettings): ScaffoldFile[] {
  const isNode = runtimeOf(settings.packageManager) === 'node'
  return [...settings.extras]
    .flatMap((extra) => extras[extra].files)
    .filter((file) => isNode || !file.endsWith('launch.json'))
    .map(templatesFor(settings).keep)
}

/** Files from the templates of a project; `keep` is for those that may exist, since there may be reasons for their text. */
function templatesFor(settings: InitSettings) {
  const values = valuesOf(settings)
  const file = (path: string): ScaffoldFile => ({ path, text: fromTemplate(`project/${path}`, values) })
  const keep = (path: string): ScaffoldFile => ({ ...file(path), existing: 'keep' })
  return { file, keep }
}

/** The command in the container, which has neither a package manager nor, on Node.js, the sources. */
const migrateIn = {
  node: ['node', commandFile, 'migrate', '--entry', 'dist/server.js'],
  bun: ['bun', commandFile, 'migrate'],
  deno: ['deno', 'run', '-A', commandFile, 'migrate'],
}

function valuesOf(settings: InitSettings): Values {
  const { name, packageManager, parts: chosen, framework } = settings
  const runtime = runtimeOf(packageManager)
  const scripts = ['dev', 'test', 'check', 'build', 'start'].map((script) => [
    script,
    runCommand(packageManager, script),
  ])
  const kind = databaseKinds.find((one) => chosen.has(one))
  const dependencies = new Set(Object.keys(packagesFor(settings).devDependencies))
  return {
    ...Object.fromEntries(scripts),
    ...Object.fromEntries(packageManagers.map((one) => [one, one === packageManager])),
    // Whether a copy of the framework is in the project, from which its packages are installed.
    vendor: /^(file:|\.\/)vendor\//.test(framework.link ?? framework.spec),
    name,
    runtime,
    node: runtime === 'node',
    ...Object.fromEntries(partNames.map((part) => [part, chosen.has(part)])),
    database: kind !== undefined,
    needs: kind !== undefined || chosen.has('mqtt'),
    migrate: JSON.stringify(migrateIn[runtime]),
    databaseUrl: kind && databases[kind].url,
    databaseTestUrl: kind && (databases[kind].test ?? databases[kind].url),
    commandLine: commandLineOf(packageManager),
    testModule: testModule({ dependencies, runtime }),
  }
}

function gitignore({ folder, packageManager, parts: chosen }: InitSettings): ScaffoldFile {
  const built = [
    ...(runtimeOf(packageManager) === 'node' ? ['dist/'] : []),
    ...(packageManager === 'yarn' ? ['.yarn/install-state.gz'] : []),
  ]
  return ignoreFile(folder, [
    'node_modules/',
    ...built,
    '.env',
    '.env.local',
    '.env.*.local',
    ...databaseKinds.flatMap((one) => (chosen.has(one) ? (databases[one].ignored ?? []) : [])),
  ])
}
