import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { availableParallelism } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { rolldown } from 'rolldown'
import { withFiles } from './build-files.mjs'

// `node build.mjs [--out <folder>] [--keep] [--if-changed] [--unchecked]`: compiles to `dist`. `--keep` keeps the single modules beside the
// bundles, for benchmarks that need them; `--if-changed` does nothing if the build is newer than its sources; `--unchecked` writes the types
// without checking them, for a run of the tests that checks the types of everything in a step of its own.
const { values } = parseArgs({
  options: {
    out: { type: 'string', default: 'dist' },
    keep: { type: 'boolean' },
    'if-changed': { type: 'boolean' },
    unchecked: { type: 'boolean' },
  },
})
const root = import.meta.dirname
const licencesFile = 'licences-of-built-in-packages.txt'
if (values['if-changed'] && isUpToDate()) process.exit()
console.error(`Building to ${values.out} (some seconds) …`)
const out = join(root, relative(root, values.out))
rmSync(out, { recursive: true, force: true })

// The types, and a module for each source file.
const tsc = [join(root, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.build.json', '--outDir', out]
// On two cores, four checkers take an eighth more processor time and are hardly faster.
if (values.unchecked) tsc.push('--noCheck', '--singleThreaded')
else if (availableParallelism() < 3) tsc.push('--checkers', '1')
// It keeps nearly all that it allocates: looking for garbage takes a fifth of the processor time of a build.
const env = { ...process.env, GOGC: 'off', GOMEMLIMIT: '2GiB' }
const compiled = spawnSync(process.execPath, tsc, { cwd: root, encoding: 'utf8', env })
process.stdout.write(compiled.stdout)
// Before Node.js 22.15, the hooks that load TypeScript run in a thread of their own, and serve, start and rehearse pass modules to another process that run before an
// application: both by their files, so they are entry points.
const hooks = 'cli/typescript/hooks'
const entryPoints = [
  'index',
  'plugins/contract/index',
  'plugins/authors',
  'plugins/index',
  ...pluginEntryPoints(),
  // What adapters and plugins promise: our own tests, which authors run as well.
  'test/contracts/index',
  // `import 'framework/env'`, for what it does.
  'plugins/env/load',
  'cli/index',
  hooks,
  'cli/serve/preload',
  'cli/start/preload',
  'cli/rehearse/preload',
]
for (const entryPoint of entryPoints) {
  if (!existsSync(join(out, `${entryPoint}.js`))) {
    console.error(`${entryPoint}.js was not built`)
    process.exit(1)
  }
}

/**
 * Bundled packages. The command line asks questions with them, a few times in the life of a project; no server loads them,
 * and every installation would have them beside it.
 */
const builtIn = [
  '@clack/prompts',
  '@clack/core',
  'fast-string-truncated-width',
  'fast-string-width',
  'fast-wrap-ansi',
  'sisteransi',
]
/** The checks of plugins for the command `doctor`. */
const isCheck = (/** @type {string} */ id) => /\/plugins\/.*\/doctor[./]/.test(id)
/** @param {string} id */
const isBuiltIn = (id) => builtIn.includes(id) || builtIn.some((name) => id.includes(`/node_modules/${name}/`))

/** @satisfies {import('rolldown').InputOptions} */
const inputs = {
  external: (/** @type {string} */ id) => !id.startsWith('.') && !id.startsWith('/') && !isBuiltIn(id),
  platform: 'node',
  tsconfig: join(root, 'tsconfig.build.json'),
  // Such imports break a cycle; everyone who builds the package would read the warning, twice.
  checks: { ineffectiveDynamicImport: false },
  // No comment with the name of each module: six kilobytes of the package.
  experimental: { attachDebugInfo: 'none' },
  plugins: [{ name: 'scripts and styles of pages', transform: withFiles }],
}
/** @param {readonly string[]} names */
const inputOf = (names) => Object.fromEntries(names.map((name) => [name, join(root, `${name}.ts`)]))
const bundle = await rolldown({ ...inputs, input: inputOf(entryPoints.filter((name) => name !== hooks)) })
/** @satisfies {import('rolldown').OutputOptions} */
const options = {
  dir: out,
  format: 'esm',
  entryFileNames: '[name].js',
  chunkFileNames: 'chunks/[name].js',
  // The types have them already.
  comments: { jsdoc: false },
}
/**
 * One file for each entry point, one for the code that `framework/kernel` loads, and one for the rest of `framework`: a server that
 * starts reads some ten files in place of two hundred. Code that a plugin loads when it starts is separate, and so is the
 * part of the kernel that the command line uses, so that it starts without the rest. Packages stay outside, so that their
 * security fixes need no release of this one.
 */
// The modules that every command begins with, and a list of all of them. Servers load six small ones of them.
const startModules = ['index', 'run/run-command', 'commands/list', 'user-commands/listed'].map((name) =>
  join(root, 'cli', `${name}.ts`),
)
const apart = chunksOf((await bundle.generate(options)).output)
const kernel = modulesOf(loadedBy('plugins/authors.js', apart))
const all = modulesOf(loadedBy('index.js', apart))
const light = sharedWithCommandLine(apart)
/** The files that every server loads. */
const servers = ['start', 'shared', 'kernel', 'main']
const start = modulesOf(
  [...apart.values()]
    .filter(({ moduleIds }) => moduleIds.some((id) => startModules.includes(id)))
    .flatMap(({ fileName }) => [...loadedBy(fileName, apart)]),
)
// Modules for browsers: no module of a server may be among them.
const contract = modulesOf(loadedBy('plugins/contract/index.js', apart))
/** The packages of CommonJS that they load, and the file through which they do. @type {Set<string>} */
const required = new Set()
const requiring = 'packages.cjs'
/** @satisfies {import('rolldown').Plugin[]} */
const plugins = [
  {
    name: 'modules of the runtime',
    renderChunk: (code, { name }) => ({
      code: withoutFacades(servers.includes(name) ? withoutLexer(code) : code, servers.includes(name)),
      map: null,
    }),
    // The bundler prints strings again after `renderChunk`.
    generateBundle(_, files) {
      for (const file of Object.values(files)) if (file.type === 'chunk') file.code = inAscii(file.code)
      if (required.size === 0) return
      const getters = [...required].map((name) => `  get "${name}"() { return require("${name}") },\n`)
      this.emitFile({
        type: 'asset',
        fileName: `chunks/${requiring}`,
        source: `module.exports = {\n${getters.join('')}}\n`,
      })
    },
  },
]
// Their thread has nothing of what the application has loaded: with the files of the others, it would load a half of the framework again.
const ofThread = await rolldown({ ...inputs, input: inputOf([hooks]) })
const { output: alone } = await ofThread.write({ ...options, plugins })
await ofThread.close()
const { output } = await bundle.write({
  ...options,
  plugins,
  codeSplitting: {
    groups: [
      // The client is in the entry point: servers and commands load only the rest.
      { name: 'contract', test: (id) => contract.has(id) && all.has(id), priority: 5 },
      { name: 'start', test: (id) => all.has(id) && start.has(id), priority: 4 },
      { name: 'command-line', test: (id) => start.has(id) && !all.has(id) && id !== startModules[0], priority: 4 },
      { name: 'shared', test: (id) => all.has(id) && light.has(id), priority: 3 },
      { name: 'kernel', test: (id) => kernel.has(id), priority: 2 },
      { name: 'main', test: (id) => all.has(id), priority: 1 },
      // One file in place of two dozen: `framework doctor` loads most of them, and no server one.
      { name: 'checks', test: isCheck, priority: 0 },
    ],
  },
})
await bundle.close()
if (values.keep) {
  // The single modules read them.
  const isCode = (/** @type {string} */ file) => statSync(file).isDirectory() || !file.endsWith('.ts')
  for (const folder of ['kernel', 'plugins'])
    cpSync(join(root, folder), join(out, folder), { recursive: true, filter: isCode })
} else {
  const wanted = new Set([...output, ...alone].map(({ fileName }) => fileName))
  for (const file of readdirSync(out, { recursive: true, encoding: 'utf8' })) {
    if (file.endsWith('.js') && !wanted.has(file.replaceAll('\\', '/'))) rmSync(join(out, file))
  }
}
// Declarations that no entry point refers to: no compiler reads them, and each takes a block of the disk of every project.
const declarations = new Set(entryPoints.flatMap((entryPoint) => [...declaredBy(join(out, `${entryPoint}.d.ts`))]))
for (const file of readdirSync(out, { recursive: true, encoding: 'utf8' })) {
  const path = join(out, file)
  if (path.endsWith('.d.ts') && (file.startsWith('cli') || !declarations.has(path))) rmSync(path)
}
const templates = 'cli/scaffold/templates'
cpSync(join(root, templates), join(out, templates), { recursive: true })
// Generated clients contain them.
for (const file of ['calls.ts', 'once.ts'])
  cpSync(join(root, 'plugins/contract', file), join(out, templates, `sdk/${file}.mustache`))
// npm does it when it installs the package, and not again when a linked one is rebuilt.
chmodSync(join(out, 'cli/index.js'), 0o755)
// Their licences ask for it. Written last: a build without this file is not complete.
const licences = builtIn.map((name) => {
  const folder = join(root, 'node_modules', name)
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry)) ?? 'package.json'
  return `${name}\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`
})
if (compiled.status === 0) writeFileSync(join(out, licencesFile), licences.join('\n\n'))
process.exitCode = compiled.status ?? 1

function isUpToDate() {
  const built = statSync(join(root, values.out, licencesFile), { throwIfNoEntry: false })?.mtimeMs ?? 0
  const sources = ['kernel', 'plugins', 'cli', 'test/contracts'].flatMap((name) =>
    readdirSync(join(root, name), { recursive: true, encoding: 'utf8' }).map((file) => join(root, name, file)),
  )
  const others = [
    'index.ts',
    'server.ts',
    'package.json',
    'build.mjs',
    'build-files.mjs',
    'tsconfig.json',
    'tsconfig.build.json',
  ]
  return [...sources, ...others.map((name) => join(root, name))].every((file) => statSync(file).mtimeMs <= built)
}

/**
 * Modules of the runtime by `require`, since an `import` reads all their exports: of `node:http` a `WebSocket`, which loads all
 * of fetch (27 ms since Node.js 22), of `node:fs` the promises and the streams. Modules that only some plugins call are loaded at the first
 * call in the files that every server loads. Together 10 ms more of each start. `node:timers` stays as it is, so that clocks of tests can
 * replace it, and a line stays a line, for the maps.
 * @param {string} code
 * @param {boolean} isOfServers Loaded by every server; a file that a plugin loads at its start is complete, so that no request waits for it.
 */
function withoutFacades(code, isOfServers) {
  let start =
    'import { createRequire as node_require_of } from "node:module"; const node_require = node_require_of(import.meta.url); '
  return code.replace(
    /^import \{ ([^}]+) \} from "node:(http|fs|fs\/promises|crypto|util|net|stream|tty|url|os)";$/gm,
    (_, /** @type {string} */ names, /** @type {string} */ module) => {
      const load = `node_require("node:${module}")`
      const before = start
      start = ''
      const renamed = names.split(', ').map((name) => name.split(' as '))
      // Exports other than plain functions (constants, classes, those that `promisify` knows by a symbol) must exist from the start.
      const members = /** @type {Record<string, unknown>} */ (process.getBuiltinModule(`node:${module}`))
      const isCalled = renamed.every(([name = '']) => {
        const member = members[name]
        return typeof member === 'function' && /^[a-z]/.test(name) && Object.getOwnPropertySymbols(member).length === 0
      })
      if (!isOfServers || !isCalled || (module !== 'crypto' && module !== 'fs/promises')) {
        return `${before}const { ${renamed.map((name) => name.join(': ')).join(', ')} } = ${load};`
      }
      const place = `node_${module.replace('/', '_')}`
      const calls = renamed.map(
        ([name, own = name]) => `${own} = (...given) => (${place} ??= ${load}).${name}(...given)`,
      )
      return `${before}let ${place}; const ${calls.join(', ')};`
    },
  )
}

/**
 * Packages of CommonJS by the `require` of a file of CommonJS: for an `import`, Node.js first searches their source for exports, in JavaScript
 * until version 22. It takes a fifth of a start on Node.js 20 and 2 % on 24. Bundlers follow this `require`, but none by `createRequire`.
 * @param {string} code
 */
function withoutLexer(code) {
  let start = `import node_packages from "./${requiring}"; `
  return code.replace(/^import (?:(\w+)|\{ ([^}]+) \}) from "([^."][^"]*)";$/gm, (line, all, names, name) => {
    if (name.startsWith('node:') || !isCommonJs(name)) return line
    required.add(name)
    const before = start
    start = ''
    return `${before}const ${all ?? `{ ${names.replaceAll(' as ', ': ')} }`} = node_packages["${name}"];`
  })
}

/** @param {string} name A package; one that has a module of its own for `import` is left as it is. */
function isCommonJs(name) {
  const { type } = JSON.parse(readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8'))
  const required = pathToFileURL(createRequire(import.meta.url).resolve(name)).href
  return required === import.meta.resolve(name) && required.endsWith('.js') && type !== 'module'
}

/**
 * V8 keeps a source with any other character in two bytes for each: 1.1 MB of memory of every server. The escape is right in strings, templates
 * and patterns; only `String.raw` would see it, whose templates are in ASCII.
 * @param {string} code
 */
function inAscii(code) {
  return code.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/**
 * @typedef {import('rolldown').OutputChunk} Chunk
 * @param {readonly (Chunk | import('rolldown').OutputAsset)[]} files
 * @returns {ReadonlyMap<string, Chunk>}
 */
function chunksOf(files) {
  return new Map(files.flatMap((file) => (file.type === 'chunk' ? [[file.fileName, file]] : [])))
}

/**
 * The files that are loaded with one.
 * @param {string} name
 * @param {ReadonlyMap<string, Chunk>} chunks
 * @param {Set<Chunk>} [found]
 */
function loadedBy(name, chunks, found = new Set()) {
  const chunk = chunks.get(name)
  if (chunk === undefined || found.has(chunk)) return found
  found.add(chunk)
  for (const other of chunk.imports) loadedBy(other, chunks, found)
  return found
}

/**
 * A file of declarations, and all that it refers to.
 * @param {string} file
 * @param {Set<string>} [found]
 */
function declaredBy(file, found = new Set()) {
  if (found.has(file) || !existsSync(file)) return found
  found.add(file)
  const text = readFileSync(file, 'utf8')
  for (const [, path = ''] of text.matchAll(/(?:from|import|module)\s*\(?\s*['"](\.[^'"]+)['"]/g)) {
    declaredBy(join(dirname(file), `${path.replace(/\.[jt]s$/, '')}.d.ts`), found)
  }
  return found
}

/** @param {Iterable<Chunk>} chunks */
function modulesOf(chunks) {
  return new Set([...chunks].flatMap(({ moduleIds }) => moduleIds))
}

/**
 * The modules of the kernel and the shared rooms that commands load without loading the kernel itself.
 * @param {ReadonlyMap<string, Chunk>} chunks
 */
function sharedWithCommandLine(chunks) {
  const isOf = (/** @type {Chunk} */ { moduleIds }, /** @type {string} */ path) =>
    moduleIds.some((id) => id.startsWith(join(root, path)))
  const commands = [...chunks.values()].filter((chunk) => isOf(chunk, 'cli'))
  const loaded = commands.flatMap(({ fileName }) => [...loadedBy(fileName, chunks)])
  const free = loaded.filter(
    ({ fileName }) => ![...loadedBy(fileName, chunks)].some((one) => isOf(one, 'kernel/kernel.ts')),
  )
  const folders = ['kernel/', 'plugins/shared/'].map((folder) => join(root, folder))
  const isPart = (/** @type {string} */ id) =>
    folders.some((folder) => id.startsWith(folder)) && !id.endsWith('kernel/index.ts')
  return new Set([...modulesOf(free)].filter(isPart))
}

function pluginEntryPoints() {
  return readdirSync(join(root, 'plugins'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(join(root, 'plugins', entry.name, 'index.ts')))
    .map(({ name }) => `plugins/${name}/index`)
}
