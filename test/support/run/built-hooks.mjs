import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { register } from 'node:module'
import process from 'node:process'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { isMainThread } from 'node:worker_threads'

// `--import` of this file: a process of a test loads the modules of modules.ts in place of the sources, and other TypeScript of this
// project from where an earlier process has compiled it: a loader for all of it would take longer than most of these processes.
const folder = process.env.FRAMEWORK_TEST_MODULES
if (folder !== undefined && isMainThread) {
  register(import.meta.url, { data: folder })
  process.setSourceMapsEnabled(true)
}

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

/** @type {import('node:module').ResolveHook} */
export async function resolve(specifier, context, next) {
  const isOwn = context.parentURL?.startsWith(root) && !context.parentURL.includes('/node_modules/')
  const resolved = await next((isOwn && sourceOf(specifier)) || specifier, context)
  const [url = ''] = resolved.url.split('?')
  const path = url.startsWith(root) ? url.slice(root.length) : ''
  if (!/^(?:index|server|(?:kernel|plugins|cli)\/.*)\.ts$/.test(path)) return resolved
  return { url: modules + path.replace(/ts$/, 'mjs'), format: 'module', shortCircuit: true }
}

/** @type {import('node:module').LoadHook} */
export async function load(url, context, next) {
  if (url.startsWith(modules)) return { format: 'module', source: await readFile(new URL(url)), shortCircuit: true }
  if (!url.startsWith(root) || !/\.ts(?:\?|$)/.test(url)) return next(url, context)
  return { format: 'module', source: await compile(fileURLToPath(url)), shortCircuit: true }
}

/** @param {string} file */
async function compile(file) {
  const { mtimeMs, size } = statSync(file)
  const name = `${compiled}/${createHash('sha256').update(`${file} ${mtimeMs} ${size}`).digest('hex').slice(0, 20)}.mjs`
  if (existsSync(name)) return readFileSync(name, 'utf8')
  const { transform } = await import('esbuild')
  const { code } = await transform(readFileSync(file, 'utf8'), {
    loader: 'ts',
    format: 'esm',
    target: 'es2022',
    keepNames: true,
    sourcefile: file,
    sourcemap: 'inline',
    tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
  })
  // Whole at once: another process may be about to read it.
  writeFileSync(`${name}-${process.pid}`, code)
  renameSync(`${name}-${process.pid}`, name)
  return code
}
