import { readsOfTheTime } from './clocks.ts'
import { type Edge, edgesOf, isIn, pluginOf } from './edges.ts'
import type { Project } from './project.ts'

export type Rule = (project: Project) => string[]

/** Which files of the kernel may import which package. */
const kernelPackages: Record<string, string> = {
  avvio: 'kernel/life/boot.ts',
  'find-my-way': 'kernel/routing/table.ts',
}

/** The levels of the kernel, the lowest first: each imports those before it, types included. */
const levels = [
  'support',
  'http',
  'runtime',
  'routing',
  'plugin',
  'pipeline',
  'inspection',
  'life',
  'options',
  'kernel',
  'public',
  'index',
]

/** Folders of `plugins/` that are a public entry point of functions and classes, with nothing to register. */
const notRegistered: ReadonlySet<string> = new Set(['serializer', 'testing', 'contract'])
const isRegistered = (plugin: string | undefined) => plugin !== undefined && !notRegistered.has(plugin)

/** The paths that may load a plugin folder from outside: the catalog, the public entry points and the command line. */
const plugAnything = (path: string) =>
  path === 'plugins/catalog.ts' || path === 'plugins/index.ts' || path === 'index.ts' || isIn(path, 'cli')

/** Rooms with what several plugins use and the kernel does not need: not plugins, and not an entry point of the package. */
const shared = 'plugins/shared'

/** The shared rooms, the lowest first: each imports those before it, types included. */
const rooms = [
  'values',
  'pages',
  'files',
  'schema',
  'options',
  'schedule',
  'environment',
  'terminal',
  'logging',
  'failures',
  'http',
  'stores',
  'locks',
  'decorators',
  'development',
  'work',
  'engines',
  'descriptions',
  'doctor',
]
const roomOf = (path: string | undefined) => (isIn(path, shared) ? rooms.indexOf(path!.split('/')[2]!) : undefined)

/** An entry point for browsers: it imports files of the kernel without a runtime; parts that need the server have an entry of their own. */
const contract = 'plugins/contract'

const maxLines = 300

/** The rules by their promises; each returns its breaches, one line for each. */
export const rules: Record<string, Rule> = {
  'the kernel knows nothing outside itself, not even types': (project) =>
    breaches(project, (edge) => isIn(edge.from, 'kernel') && edge.to !== undefined && !isIn(edge.to, 'kernel')),

  'only boot.ts imports avvio, only table.ts find-my-way, and the kernel no other package': (project) =>
    breaches(
      project,
      (edge) => isIn(edge.from, 'kernel') && edge.package !== undefined && kernelPackages[edge.package] !== edge.from,
    ),

  'only the kernel imports avvio and find-my-way': (project) =>
    breaches(
      project,
      (edge) => !isIn(edge.from, 'kernel') && (edge.package === 'avvio' || edge.package === 'find-my-way'),
    ),

  'no level of the kernel imports upwards, not even types': (project) => breaches(project, isUpwards),

  'a plugin imports the entry point of the kernel, the shared rooms and nothing else of the framework': (project) =>
    breaches(project, (edge) => {
      const plugin = pluginOf(edge.from)
      if (plugin === undefined || edge.to === undefined) return false
      if (pluginOf(edge.to) === plugin || edge.to === 'kernel/index.ts' || isIn(edge.to, shared)) return false
      if (isIn(edge.from, contract) && isIn(edge.to, 'kernel')) return false
      if (edge.kind === 'augment') return !isIn(edge.to, 'kernel')
      return pluginOf(edge.to) === undefined || edge.kind !== 'type'
    }),

  'a shared room imports the kernel, the rooms below it and no plugin': (project) =>
    breaches(project, ({ from, to }) => {
      const room = roomOf(from)
      if (room === undefined || to === undefined) return false
      return !isIn(to, 'kernel') && !((roomOf(to) ?? rooms.length) <= room)
    }),

  'every file of plugins/shared is in a room that has a level': (project) =>
    [...project.modules.keys()].filter((path) => roomOf(path) === -1).map((path) => `${path}: not in a room`),

  // A folder in a room is its own affair. One index for each room would make every plugin load all files of it.
  'a shared room is entered through its files, not through its folders': (project) =>
    breaches(project, ({ from, to }) => isIn(to, shared) && roomOf(from) !== roomOf(to) && to!.split('/').length > 4),

  'the schema room imports nothing of HTTP': (project) =>
    breaches(
      project,
      ({ from, to }) => isIn(from, `${shared}/schema`) && isIn(to, 'kernel') && !isIn(to, 'kernel/support'),
    ),

  'plugins ask the clock of the kernel for the time, and never the process': readsOfTheTime,

  'nothing imports the command line': (project) =>
    breaches(project, (edge) => isIn(edge.to, 'cli') && !isIn(edge.from, 'cli')),

  'a plugin folder is loaded by the catalog, the public entry points and the command line only': (project) =>
    breaches(
      project,
      (edge) =>
        isRegistered(pluginOf(edge.to)) &&
        pluginOf(edge.from) === undefined &&
        edge.kind !== 'type' &&
        !plugAnything(edge.from),
    ),

  'a plugin folder is entered through index.ts or plugin.ts': (project) =>
    breaches(
      project,
      (edge) =>
        pluginOf(edge.to) !== undefined &&
        pluginOf(edge.from) !== pluginOf(edge.to) &&
        edge.to !== `${contract}/implement.ts` &&
        // The names that the root entry point has as well.
        !(edge.from === 'index.ts' && /^plugins\/[^/]+\/public\.ts$/.test(edge.to ?? '')) &&
        !/^plugins\/[^/]+\/(index|plugin)\.ts$/.test(edge.to ?? ''),
    ),

  'the catalog names every plugin': (project) => {
    if (!project.modules.has('plugins/catalog.ts')) return []
    const named = new Set(
      edgesOf(project)
        .filter(isCatalog)
        .map((edge) => pluginOf(edge.to)),
    )
    return pluginFolders(project)
      .filter((name) => isRegistered(name) && !named.has(name))
      .map((name) => `plugins/catalog.ts does not name plugins/${name}`)
  },

  'index.ts names something of every plugin that merges types, or they would not arrive with the package': (
    project,
  ) => {
    const edges = edgesOf(project)
    const merging = new Set(edges.filter(({ kind }) => kind === 'augment').map(({ from }) => pluginOf(from)))
    const named = new Set(edges.filter(({ from }) => from === 'index.ts').map(({ to }) => to && pluginOf(to)))
    return [...merging]
      .filter((plugin) => plugin !== undefined && !named.has(plugin))
      .map((plugin) => `index.ts does not name plugins/${plugin}`)
  },

  'optional packages are loaded by import() or named by import type': (project) =>
    breaches(project, (edge) => project.peers.has(edge.package ?? '') && edge.kind === 'value'),

  'every imported package is declared as a dependency or a peer': (project) =>
    breaches(
      project,
      (edge) =>
        edge.package !== undefined &&
        edge.kind !== 'augment' &&
        !isBuiltIn(edge) &&
        !project.dependencies.has(edge.package) &&
        !project.peers.has(edge.package),
    ),

  'relative imports carry .ts and lead to a file': (project) =>
    breaches(project, (edge) => edge.to !== undefined && !project.modules.has(edge.to)),

  'no module has a default export': (project) =>
    [...project.modules].flatMap(([path, facts]) =>
      facts.defaultExports.map((line) => `${path}:${line} export default`),
    ),

  // The entry points are lists of names, and their length is that of the interface.
  [`no file but an entry point has more than ${maxLines} lines of code`]: (project) =>
    [...project.modules]
      .filter(([path, facts]) => facts.lines > maxLines && !path.endsWith('index.ts'))
      .map(([path, facts]) => `${path} has ${facts.lines} lines of code`),

  'every plugin folder has its entry point, its glue, its page and its tests': (project) =>
    pluginFolders(project).flatMap((name) => {
      const missing: string[] = []
      if (!project.modules.has(`plugins/${name}/index.ts`)) missing.push('index.ts')
      if (!project.modules.has(`plugins/${name}/plugin.ts`) && isRegistered(name)) missing.push('plugin.ts')
      if (!project.companions.includes(`docs/plugins/${name}.md`)) missing.push(`docs/plugins/${name}.md`)
      if (!hasTests(project, name)) missing.push(`tests in test/plugins/${name}/ or test/plugins/${name}*.test.ts`)
      return missing.map((what) => `plugins/${name} has no ${what}`)
    }),
}

function breaches(project: Project, isBreach: (edge: Edge) => boolean): string[] {
  return edgesOf(project)
    .filter(isBreach)
    .map((edge) => `${edge.from}:${edge.line} ${wording[edge.kind]} '${edge.specifier}'`)
}

const wording = { value: 'imports', dynamic: 'import()', type: 'import type', augment: 'declare module' }

/** `kernel.ts` declares the type of the server for lower levels: a merged type, which is declared where it is known. */
function isUpwards(edge: Edge): boolean {
  if (!isIn(edge.from, 'kernel') || edge.to === undefined || !isIn(edge.to, 'kernel')) return false
  const [from, to] = [levelOf(edge.from), levelOf(edge.to)]
  return from === -1 || to === -1 || to > from
}

function levelOf(path: string): number {
  const [, first = ''] = path.split('/')
  return levels.indexOf(first.replace(/\.ts$/, ''))
}

/** A package that `build.mjs` bundles, so that it is not installed. */
const isBuiltIn = (edge: Edge) => edge.package === '@clack/prompts' && edge.from.startsWith('cli/')
/** The catalog takes its plugins from `plugins/index.ts`, and does not compile if one of them is missing in it. */
const isCatalog = (edge: Edge) => edge.from === 'plugins/catalog.ts' || edge.from === 'plugins/index.ts'

function pluginFolders(project: Project): string[] {
  return [...new Set([...project.modules.keys()].map(pluginOf))].filter((name) => name !== undefined)
}

function hasTests(project: Project, name: string): boolean {
  return project.companions.some(
    (path) =>
      path.endsWith('.test.ts') && (path.startsWith(`test/plugins/${name}/`) || isTestFileOf(name, path.split('/'))),
  )
}

/** `cache.test.ts` and `cache-locks.test.ts`, but not `cachet.test.ts`, are tests of `cache`. */
function isTestFileOf(name: string, [, , file, ...rest]: string[]): boolean {
  return rest.length === 0 && file!.startsWith(name) && /^[.-]/.test(file!.slice(name.length))
}
