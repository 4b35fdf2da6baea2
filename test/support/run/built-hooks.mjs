import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import nodeModule, { createRequire } from 'node:module'
import process from 'node:process'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { isMainThread } from 'node:worker_threads'

// `--import` of this file: a process of a test loads the modules of modules.ts in place of the sources, and other TypeScript of this
// project from where an earlier process has compiled it: a loader for all of it would take longer than most of these processes. Without
// source maps: to read them would take two fifths of the processor time of a process that starts a server.
const folder = process.env.FRAMEWORK_TEST_MODULES

const root = new URL('../../../', import.meta.url).href
let modules = ''
let compiled = ''
/** @type {Record<string, string[]>} */
let paths = {}

/** @type {import('node:module').InitializeHook<string>} */
export function initialize(data) {
  modules = `${pathToFileURL(data).href}/`
  compiled = `${data}/compiled`
  mkdirSync(compiled, { recursive: true })
  paths = JSON.parse(readFileSync(new URL('tsconfig.json', root), 'utf8')).compilerOptions.paths
}

/** The source for a name of the framework, as tsconfig.json has it. @param {string} name */
function sourceOf(name) {
  for (const [pattern, [target = '']] of Object.entries(paths)) {
    const [start = '', rest] = pattern.split('*')
    if (rest === undefined ? name === pattern : name.startsWith(start))
      return new URL(target.replace('*', name.slice(start.length)), root).href
  }
  return undefined
}

/** @param {string} specifier @param {string | undefined} parent */
function nameOf(specifier, parent) {
  const isOwn = parent?.startsWith(root) && !parent.includes('/node_modules/')
  return (isOwn && sourceOf(specifier)) || specifier
}

/** @param {import('node:module').ResolveFnOutput} resolved @returns {import('node:module').ResolveFnOutput} */
function builtOf(resolved) {
  const [url = ''] = resolved.url.split('?')
  const path = url.startsWith(root) ? url.slice(root.length) : ''
  if (!/^(?:index|server|(?:kernel|plugins|cli)\/.*)\.ts$/.test(path)) return resolved
  return { url: modules + path.replace(/ts$/, 'mjs'), format: 'module', shortCircuit: true }
}

/** @param {string} url @returns {import('node:module').LoadFnOutput | undefined} */
function compiledOf(url) {
  if (!url.startsWith(root) || !/\.ts(?:\?|$)/.test(url)) return undefined
  return { format: 'module', source: compile(fileURLToPath(url)), shortCircuit: true }
}

/** @type {import('node:module').ResolveHook} */
export const resolve = async (specifier, context, next) =>
  builtOf(await next(nameOf(specifier, context.parentURL), context))

/** @type {import('node:module').LoadHook} */
export const load = async (url, context, next) => compiledOf(url) ?? next(url, context)

/** @param {string} file */
function compile(file) {
  const { mtimeMs, size } = statSync(file)
  const name = `${compiled}/${createHash('sha256').update(`${file} ${mtimeMs} ${size}`).digest('hex').slice(0, 20)}.mjs`
  if (existsSync(name)) return readFileSync(name, 'utf8')
  /** @type {import('esbuild')} */
  const { transformSync } = createRequire(import.meta.url)('esbuild')
  const { code } = transformSync(readFileSync(file, 'utf8'), {
    loader: 'ts',
    format: 'esm',
    target: 'es2022',
    keepNames: true,
    sourcefile: file,
    tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
  })
  // Whole at once: another process may be about to read it.
  writeFileSync(`${name}-${process.pid}`, code)
  renameSync(`${name}-${process.pid}`, name)
  return code
}

if (folder !== undefined && isMainThread) {
  const { register, registerHooks } = nodeModule
  // In the thread itself, where the version of Node.js can: a thread for the hooks, and each module there and back, takes longer than they do.
  if (registerHooks === undefined) register(import.meta.url, { data: folder })
  else {
    initialize(folder)
    registerHooks({
      resolve: (specifier, context, next) => builtOf(next(nameOf(specifier, context.parentURL), context)),
      load: (url, context, next) => compiledOf(url) ?? next(url, context),
    })
  }
}
